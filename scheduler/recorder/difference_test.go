package recorder

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferences(t *testing.T) {
	unfit := func(refusals ...Refusal) Attempt { return Attempt{Outcome: Unschedulable, Refusals: refusals} }
	tests := map[string]struct {
		before, after Attempt
		want          []string
	}{
		"nothing changed": {before: unfit(Refusal{"Fit", "no cpu", 3}), after: unfit(Refusal{"Fit", "no cpu", 3})},
		"a reason went, another came": {
			before: unfit(Refusal{"Fit", "no cpu", 3}, Refusal{"Load", "busy", 2}), after: unfit(Refusal{"Fit", "no cpu", 8}),
			want: []string{"Fit: no cpu: 3 -> 8 nodes", "Load: busy: 2 -> 0 nodes"},
		},
		"a node was found": {
			before: unfit(Refusal{"Fit", "no cpu", 3}), after: Attempt{Outcome: Placed, Node: "a"},
			want: []string{"Unschedulable -> Placed", "Fit: no cpu: 3 -> 0 nodes"},
		},
		"another node was chosen": {
			before: Attempt{Outcome: Placed, Node: "a"}, after: Attempt{Outcome: Placed, Node: "b"},
			want: []string{"node a -> b"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Differences(test.before, test.after)); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}
