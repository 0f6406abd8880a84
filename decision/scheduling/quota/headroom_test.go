package quota

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestHeadroomIsTheLargestPodThatIsAdmitted: a pod that requests the headroom is admitted, and one that requests a unit more is not.
func TestHeadroomIsTheLargestPodThatIsAdmitted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for range rapid.IntRange(0, 12).Draw(t, "changes") {
			w.change(t)
		}
		name := rapid.SampledFrom(w.specs).Draw(t, "quota").Name
		resource := rapid.SampledFrom(testResources).Draw(t, "resource")
		rules := Rules{Runtime: rapid.Bool().Draw(t, "runtime"), Parents: rapid.Bool().Draw(t, "parents")}
		tree := w.forest.Tree(name)
		before, _ := tree.Status(name)
		room, bound := tree.Headroom(name, resource, rules)
		if after, _ := tree.Status(name); !cmp.Equal(before, after) {
			t.Fatalf("asking changes the tree from %v to %v", before, after)
		}
		admitted := func(request int64) bool {
			trial := tree.Clone()
			pod := Holding{Request: Amounts{{resource, request}}}
			trial.Hold(name, pod)
			var admission Admission
			trial.Admission(name, pod, rules, &admission)
			return admission.Verdict().Passed()
		}
		if room > 0 && !admitted(room) {
			t.Fatalf("a pod that requests the headroom %d of %s is refused", room, resource)
		}
		if bound != "" && room < Unlimited && admitted(room+1) {
			t.Fatalf("a pod that requests more than the headroom %d of %s, bounded by %s, is admitted", room, resource, bound)
		}
	})
}

func TestReclaimNamesWhoUsesMore(t *testing.T) {
	pod := func(request int64, fixed bool) Holding {
		return Holding{Request: Amounts{{"gpu", request}}, Assigned: true, NonPreemptible: fixed}
	}
	tests := map[string]struct {
		lends       bool
		hold        map[string][]Holding
		wantGain    int64
		wantDebtors []Debtor
	}{
		"nothing is lent":                 {true, map[string][]Holding{"owner": {pod(6, false)}, "other": {pod(4, false)}}, 0, nil},
		"lent and not used":               {true, map[string][]Holding{"other": {pod(4, false)}}, 6, nil},
		"lent and used":                   {true, map[string][]Holding{"other": {pod(5, false), pod(4, true)}}, 6, []Debtor{{Quota: "other", Used: 9, Runtime: 4, NonPreemptible: 4}}},
		"a part is lent":                  {true, map[string][]Holding{"owner": {pod(2, false)}, "other": {pod(8, false)}}, 4, []Debtor{{Quota: "other", Used: 8, Runtime: 4}}},
		"it does not lend, others use it": {false, map[string][]Holding{"other": {pod(9, false)}}, 0, []Debtor{{Quota: "other", Used: 9, Runtime: 4}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			owner, other := gpu("owner", 1, 6), gpu("other", 1, 4)
			owner.Lends = tc.lends
			forest := buildForest(Options{ScaleMin: true}, Amounts{{"gpu", 10}}, owner, other)
			for quota, held := range tc.hold {
				for _, holding := range held {
					forest.Tree(quota).Hold(quota, holding)
				}
			}
			gain, debtors := forest.Tree("owner").Reclaim("owner", "gpu")
			if diff := cmp.Diff(tc.wantDebtors, debtors); diff != "" || gain != tc.wantGain {
				t.Errorf("gain %d, want %d; debtors (-want +got):\n%s", gain, tc.wantGain, diff)
			}
		})
	}
}
