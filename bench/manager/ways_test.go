package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
)

// TestProfilesAreAppliedByWhomTheyAreMeantFor: a change of what CEL can express must not turn one way into another unseen.
func TestProfilesAreAppliedByWhomTheyAreMeantFor(t *testing.T) {
	classes := map[string]colocationprofile.PriorityClass{"koord-batch": {Value: 5500}}
	for _, way := range admissions {
		t.Run(way.name, func(t *testing.T) {
			if way.profile == nil {
				t.Skip("no profile")
			}
			var profile configv1alpha1.ClusterColocationProfile
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(way.object().Object, &profile); err != nil {
				t.Fatal(err)
			}
			want := policy.ByPolicy
			if way.asked[mutatePod] > 0 {
				want = policy.ByWebhook
			}
			verdict := policy.Compile([]configv1alpha1.ClusterColocationProfile{profile}, classes, policy.Options{}).Verdicts[0]
			if verdict.Path != want {
				t.Errorf("applied by %s (%s), want %s", verdict.Path, verdict.Reason, want)
			}
			result, err := colocationprofile.Decide(colocationprofile.Input{
				Pod: newPod("pod"), Namespace: podNamespace, NamespaceLabels: map[string]string{podNamespaceLabel: ""},
				Profiles: []configv1alpha1.ClusterColocationProfile{profile}, PriorityClasses: classes,
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := way.check(result); err != nil {
				t.Error(err)
			}
			if err := admissions[0].check(result); err == nil {
				t.Error("the pod passes for one that nobody admitted")
			}
		})
	}
}

func TestAdmissionIsComparedWithNone(t *testing.T) {
	const ms = time.Millisecond
	turn := func(way int, p99 ...time.Duration) *turns {
		t := &turns{admission: admissions[way], answers: map[string]answers{}}
		for _, d := range p99 {
			t.took = append(t.took, []time.Duration{ms, d})
		}
		return t
	}
	all := []*turns{turn(0, 4*ms, 5*ms), turn(1, 7*ms, 4*ms), turn(2, 8*ms), turn(3, 11*ms)}
	var got []figure
	for _, f := range podFigures(settings{podRate: 200}, all) {
		if len(f.Name) > 9 && f.Name[:9] == "p99 added" {
			f.Note = ""
			got = append(got, f)
		}
	}
	want := []figure{
		{Name: "p99 added by policy, labels only", Value: 2, Unit: "ms", Must: "<= 1 ms", Missed: true},
		{Name: "p99 added by policy, made batch pods", Value: 3, Unit: "ms", Must: "<= 5 ms"},
		{Name: "p99 added by webhook, made batch pods", Value: 6, Unit: "ms", Must: "<= 5 ms", Missed: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}
