package kubectl_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/kubectl"
)

func TestACommandAndItsRequestAreOfTheSameChange(t *testing.T) {
	pod := kubectl.Pod("shop", "web-1")
	tests := map[string]struct {
		step                            diagnosticsv1alpha1.FixStep
		wantCommand, wantVerb, wantType string
		wantPatch                       string
	}{
		"a label that is set": {
			kubectl.Label(pod, map[string]*string{"a": kubectl.Value("b")}),
			"kubectl label pod -n shop web-1 --overwrite a=b", "patch", "application/merge-patch+json", `{"metadata":{"labels":{"a":"b"}}}`,
		},
		"labels that are removed, in the order of their keys": {
			kubectl.Label(kubectl.Node("n-1"), map[string]*string{"b": kubectl.Remove, "a": kubectl.Remove}),
			"kubectl label node n-1 a- b-", "patch", "application/merge-patch+json", `{"metadata":{"labels":{"a":null,"b":null}}}`,
		},
		"an annotation with an apostrophe": {
			kubectl.Annotate(pod, map[string]*string{"a": kubectl.Value(`{"x":"it's"}`)}),
			`kubectl annotate pod -n shop web-1 --overwrite a='{"x":"it'\''s"}'`, "patch", "application/merge-patch+json",
			`{"metadata":{"annotations":{"a":"{\"x\":\"it's\"}"}}}`,
		},
		"a node that is uncordoned": {
			kubectl.Uncordon("n-1"), "kubectl uncordon n-1", "patch", "application/merge-patch+json", `{"spec":{"unschedulable":null}}`,
		},
		"a merge patch of a quota": {
			kubectl.Merge(kubectl.ElasticQuota("shop", "team-a"), map[string]any{"spec": map[string]any{"min": map[string]string{"cpu": "6"}}}),
			`kubectl patch elasticquota -n shop team-a --type merge -p '{"spec":{"min":{"cpu":"6"}}}'`, "patch", "application/merge-patch+json",
			`{"spec":{"min":{"cpu":"6"}}}`,
		},
		"a strategic merge patch of a Deployment": {
			kubectl.Patch(kubectl.Deployment("shop", "web"), map[string]any{"spec": map[string]any{"replicas": 2}}),
			`kubectl patch deployment -n shop web -p '{"spec":{"replicas":2}}'`, "patch", "application/strategic-merge-patch+json", `{"spec":{"replicas":2}}`,
		},
		"an element that is appended": {
			kubectl.Insert(pod, kubectl.Add{Path: "/spec/tolerations/-", Value: map[string]string{"key": "a"}}),
			`kubectl patch pod -n shop web-1 --type json -p '[{"op":"add","path":"/spec/tolerations/-","value":{"key":"a"}}]'`, "patch", "application/json-patch+json",
			`[{"op":"add","path":"/spec/tolerations/-","value":{"key":"a"}}]`,
		},
		"an object that is deleted": {
			kubectl.Delete(kubectl.Reservation("nightly")), "kubectl delete reservation nightly", "delete", "", "",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := []string{test.step.Command, test.step.Verb, test.step.PatchType, test.step.Patch}
			if diff := cmp.Diff([]string{test.wantCommand, test.wantVerb, test.wantType, test.wantPatch}, got); diff != "" {
				t.Errorf("command, verb, type and patch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALineStopsAtTheFirstCommandThatFails(t *testing.T) {
	steps := []diagnosticsv1alpha1.FixStep{kubectl.Uncordon("n-1"), kubectl.Delete(kubectl.Pod("shop", "web-1"))}
	if got, want := kubectl.Line(steps), "kubectl uncordon n-1 && kubectl delete pod -n shop web-1"; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
	if got := kubectl.Line(nil); got != "" {
		t.Errorf("line of no changes %q", got)
	}
}

func FuzzQuote(f *testing.F) {
	f.Add("it's $HOME `id` \\ \"x\"")
	f.Fuzz(func(t *testing.T, word string) {
		if strings.ContainsRune(word, 0) {
			t.Skip("no argument of a program has a zero byte")
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+kubectl.Quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("the shell reads %q as %q, %v", word, out, err)
		}
	})
}
