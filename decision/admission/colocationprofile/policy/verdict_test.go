package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/test/profilecases"
)

func TestEveryProfileHasAPathAndAReason(t *testing.T) {
	test := profilecases.Case{Profiles: `
- {metadata: {name: a}, spec: {qosClass: BE, priorityClassName: koord-batch}}
- {metadata: {name: b}, spec: {probability: 20}}
- {metadata: {name: c}, spec: {probability: 0}}
- {metadata: {name: d}, spec: {patch: {spec: {nodeSelector: {a: b}}}}}
- {metadata: {name: e}, spec: {priorityClassName: absent}}
- {metadata: {name: f}, spec: {selector: {matchExpressions: [{key: a, operator: In}]}}}
- {metadata: {name: g}, spec: {labels: {"not a key": x}}}
- {metadata: {name: h}, spec: {labels: {s: "1"}}}
- {metadata: {name: i}, spec: {labelKeysMapping: {s: copy}}}
- {metadata: {name: j}, spec: {patch: {metadata: {labels: {k: v}}}}}
- {metadata: {name: k}, spec: {patch: {spec: 7}}}
`}
	profiles, err := test.ReadProfiles()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"a": "policy", "b": "webhook: its probability is 20%", "c": "none: its probability is 0%", "d": "webhook: its patch changes more",
		"e": `webhook: colocation profile "e": priorityclass "absent" not found`, "f": "none: read selector", "g": `webhook: "not a key" is not a valid label or annotation key`,
		"h": `webhook: profile "i" reads metadata.labels[s]`, "i": `webhook: profile "i" reads metadata.labels[s]`, "j": "policy", "k": `webhook: colocation profile "k": read patch`,
	}
	compiled := Compile(profiles, profilecases.PriorityClasses(), Options{})
	for _, verdict := range compiled.Verdicts {
		got := strings.TrimSuffix(string(verdict.Path)+": "+verdict.Reason, ": ")
		if !strings.HasPrefix(got, want[verdict.Profile]) || want[verdict.Profile] == "" {
			t.Errorf("%s: %s, want %s", verdict.Profile, got, want[verdict.Profile])
		}
		if listed := strings.Contains(compiled.Policy.Annotations[VerdictsAnnotation], `"profile":"`+verdict.Profile+`"`); listed != (verdict.Path != ByPolicy) {
			t.Errorf("%s is listed among those that are not expressed: %v", verdict.Profile, listed)
		}
	}
	if compiled.Repeatable {
		t.Error("profiles with a probability may be repeated")
	}
}

func TestWithoutPolicyServedEverythingGoesToTheWebhook(t *testing.T) {
	compiled := Compile(profilecases.BatchProfile(), profilecases.PriorityClasses(), Options{Unserved: "not served"})
	want := []Verdict{{Profile: "batch", Path: ByWebhook, Reason: "not served"}}
	if diff := cmp.Diff(want, compiled.Verdicts, cmp.FilterPath(func(p cmp.Path) bool {
		return strings.HasPrefix(p.Last().String(), ".s")
	}, cmp.Ignore())); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if compiled.Policy != nil || compiled.WebhookCondition != compiled.Everywhere() || !compiled.Repeatable {
		t.Errorf("policy %v, condition %s, repeatable %v", compiled.Policy, compiled.WebhookCondition, compiled.Repeatable)
	}
}

// manyProfiles set eight labels each.
func manyProfiles(count int) []configv1alpha1.ClusterColocationProfile {
	var profiles []configv1alpha1.ClusterColocationProfile
	for i := range count {
		profile := profilecases.BatchProfile()[0]
		profile.Name = fmt.Sprintf("p%03d", i)
		profile.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "spark"}}
		profile.Spec.Labels = map[string]string{}
		for j := range 4 {
			profile.Spec.Labels[fmt.Sprintf("key-%d", j)] = fmt.Sprint(i)
		}
		profiles = append(profiles, profile)
	}
	return profiles
}

func TestAFullPolicyAndALargePodStayWithinTheBudget(t *testing.T) {
	profiles := manyProfiles(maxSteps/8 + 1)
	compiled := Compile(profiles, profilecases.PriorityClasses(), Options{})
	last := compiled.Verdicts[len(compiled.Verdicts)-1]
	if last.Path != ByWebhook || !strings.Contains(last.Reason, "more than 512 changes") {
		t.Errorf("the last profile goes to %s: %s", last.Path, last.Reason)
	}
	profiles = profiles[:len(profiles)-1]
	compiled = Compile(profiles, profilecases.PriorityClasses(), Options{})
	test := profilecases.Case{}
	pod, err := test.ReadPod(`metadata: {labels: {app: spark}}`)
	if err != nil {
		t.Fatal(err)
	}
	pod.Spec.Containers = nil
	for i := range 100 {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprintf("c%03d", i), Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("1Gi")},
			Limits:   corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("2Gi")},
		}})
	}
	result, err := colocationprofile.Decide(colocationprofile.Input{
		Pod: pod, Namespace: pod.Namespace, NamespaceLabels: profilecases.NamespaceLabels(), Profiles: profiles, PriorityClasses: profilecases.PriorityClasses(),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := newEvaluator(t, compiled.Policy).evaluate(t, pod, profilecases.NamespaceLabels())
	if diff := cmp.Diff(asJSON(t, result), asJSON(t, got)); diff != "" {
		t.Errorf("pod (-decision +policy):\n%s", diff)
	}
}
