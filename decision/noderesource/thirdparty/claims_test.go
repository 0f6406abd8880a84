package thirdparty_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

func TestClaims(t *testing.T) {
	node := func(free, forPods int64) thirdparty.Candidate {
		return thirdparty.Candidate{Free: of(free, free), ForPods: of(forPods, forPods)}
	}
	tests := map[string]struct {
		nodes       []thirdparty.Candidate
		waiting     []thirdparty.Amount
		engineWaits bool
		want        map[int]bool
	}{
		"nobody waits":                           {nodes: []thirdparty.Candidate{node(8, 4)}},
		"a pod that fits waits for other things": {nodes: []thirdparty.Candidate{node(8, 4)}, waiting: []thirdparty.Amount{of(4, 4)}},
		"the node with the least to spare": {
			nodes: []thirdparty.Candidate{node(16, 4), node(8, 4), node(6, 3)}, waiting: []thirdparty.Amount{of(7, 7)}, want: map[int]bool{1: true}},
		"a pod that fits nowhere claims nothing": {nodes: []thirdparty.Candidate{node(16, 4)}, waiting: []thirdparty.Amount{of(17, 1)}},
		"two pods claim two nodes, the larger first": {
			nodes: []thirdparty.Candidate{node(16, 4), node(8, 4)}, waiting: []thirdparty.Amount{of(5, 5), of(12, 12)}, want: map[int]bool{0: true, 1: true}},
		"while the engine waits, half of the nodes": {
			nodes:   []thirdparty.Candidate{node(8, 4), node(8, 4), node(8, 4), node(8, 4)},
			waiting: []thirdparty.Amount{of(5, 5), of(5, 5), of(5, 5)}, engineWaits: true, want: map[int]bool{0: true, 1: true}},
		"while the engine waits, one node at least": {
			nodes: []thirdparty.Candidate{node(8, 4)}, waiting: []thirdparty.Amount{of(5, 5)}, engineWaits: true, want: map[int]bool{0: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.want == nil {
				test.want = map[int]bool{}
			}
			if diff := cmp.Diff(test.want, thirdparty.Claims(test.nodes, test.waiting, test.engineWaits, 50)); diff != "" {
				t.Errorf("Claims() (-want +got):\n%s", diff)
			}
		})
	}
}
