package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/test/profilecases"
)

// TestAnyProfilesGiveTheSamePodBothWays draws profiles and pods. What the policy does not express must come out untouched.
func TestAnyProfilesGiveTheSamePodBothWays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		profiles, classes := profilecases.DrawProfiles(rt), profilecases.PriorityClasses()
		compiled := Compile(profiles, classes, Options{})
		evaluator := newEvaluator(t, compiled.Policy)
		for range 20 {
			pod := profilecases.DrawPod(rt)
			var trace colocationprofile.Trace
			want, err := colocationprofile.Decide(colocationprofile.Input{
				Pod: pod, Namespace: pod.Namespace, NamespaceLabels: profilecases.NamespaceLabels(), Profiles: profiles, PriorityClasses: classes,
			}, &trace)
			if err != nil {
				rt.Fatal(err)
			}
			for i, entry := range trace.Profiles {
				if entry.Outcome == colocationprofile.Applied && compiled.Verdicts[i].Path == ByWebhook {
					want = pod
				}
			}
			got := evaluator.evaluate(t, pod, profilecases.NamespaceLabels())
			if diff := cmp.Diff(asJSON(t, want), asJSON(t, got)); diff != "" {
				rt.Fatalf("pod (-decision +policy):\n%s", diff)
			}
		}
	})
}
