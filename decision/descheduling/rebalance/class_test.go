package rebalance

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNodesAreClassified by thresholds of 75 % of cpu and 80 % of memory.
func TestNodesAreClassified(t *testing.T) {
	tests := map[string]struct {
		cpu, memory float64
		change      func(*Node)
		want        NodeClass
	}{
		"at its thresholds":         {75, 80, nil, NodeClass{Normal, []float64{0.75, 0.8}, []bool{false, false}}},
		"above that of cpu":         {76, 80, nil, NodeClass{High, []float64{0.76, 0.8}, []bool{true, false}}},
		"above that of memory":      {10, 81, nil, NodeClass{High, []float64{0.1, 0.81}, []bool{false, true}}},
		"idle":                      {0, 0, nil, NodeClass{Normal, []float64{0, 0}, []bool{false, false}}},
		"cordoned":                  {76, 0, func(n *Node) { n.Unschedulable = true }, NodeClass{High, []float64{0.76, 0}, []bool{true, false}}},
		"without usage":             {90, 90, func(n *Node) { n.Usage = nil }, NodeClass{Class: Unknown}},
		"with usage that is none":   {90, 90, func(n *Node) { n.Usage[0] = math.NaN() }, NodeClass{Class: Unknown}},
		"without allocatable cpu":   {90, 90, func(n *Node) { n.Capacity[0] = 0 }, NodeClass{Class: Unknown}},
		"of twice the load, and up": {300, 0, nil, NodeClass{High, []float64{2, 0}, []bool{true, false}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.node(20, 20)
			n := w.node(tc.cpu, tc.memory)
			if tc.change != nil {
				tc.change(&w.Nodes[n])
			}
			if diff := cmp.Diff(tc.want, Classify(w.Input)[n]); diff != "" {
				t.Errorf("class (-want +got):\n%s", diff)
			}
		})
	}
}
