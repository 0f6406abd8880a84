package outlook

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

const (
	hour   = 3600
	cpu    = "kubernetes.io/batch-cpu"
	memory = "kubernetes.io/batch-memory"
)

// offer is one of batch-cpu, of which two cores are requested, by steps of a time in hours and cores.
func offer(predictor string, now int64, steps ...[2]int64) diagnosticsv1alpha1.OfferOutlook {
	out := diagnosticsv1alpha1.OfferOutlook{Resource: cpu, Unit: diagnosticsv1alpha1.MilliCPU, Offered: now * 1000, Requested: 2000, Predictor: predictor, Note: "noted"}
	for _, step := range steps {
		out.Steps = append(out.Steps, diagnosticsv1alpha1.OfferStep{WithinSeconds: step[0] * hour, Offered: step[1] * 1000})
	}
	return out
}

func node(name string, copies int32, offers ...diagnosticsv1alpha1.OfferOutlook) Node {
	return Node{Name: name, Copies: copies, Offers: offers}
}

// said is one line a step, and one a node.
func said(o *diagnosticsv1alpha1.CopiesOutlook) []string {
	if o == nil {
		return nil
	}
	out := []string{o.Message}
	for _, step := range o.Steps {
		at := "at the peak"
		if step.WithinSeconds != nil {
			at = fmt.Sprintf("%dh", *step.WithinSeconds/hour)
		}
		out = append(out, fmt.Sprintf("%s: %d, %d unpredicted, %d free", at, step.Copies, step.Unpredicted, step.Free[0].Amount))
	}
	for _, node := range o.Nodes {
		lasting := "-"
		if node.Lasting != nil {
			lasting = fmt.Sprint(*node.Lasting)
		}
		out = append(out, fmt.Sprintf("%s: %s of %d for %dh by %s", node.Name, lasting, node.Copies, node.WithinSeconds/hour, node.Predictor))
	}
	return out
}

func TestDecide(t *testing.T) {
	twoCores := map[string]int64{cpu: 2000, "cpu": 100}
	withMemory := map[string]int64{cpu: 2000, memory: 100}
	byRequest := diagnosticsv1alpha1.OfferOutlook{Resource: memory, Offered: 900, Requested: 700, Steps: []diagnosticsv1alpha1.OfferStep{{Offered: 900}}}
	tests := map[string]struct {
		requests map[string]int64
		nodes    []Node
		want     []string
	}{
		"services come back in the evening": {
			twoCores, []Node{node("b", 3, offer("seasonal", 10, [2]int64{5, 10}, [2]int64{24, 5})), node("a", 1, offer("seasonal", 4, [2]int64{24, 4}))},
			[]string{
				"2 of 4 keep what they request for the next 24h; the first may lose it after 5h",
				"0h: 4, 0 unpredicted, 10000 free", "5h: 4, 0 unpredicted, 10000 free", "24h: 2, 0 unpredicted, 5000 free",
				"a: 1 of 1 for 24h by seasonal", "b: 1 of 3 for 24h by seasonal",
			},
		},
		"all last": {
			twoCores, []Node{node("a", 4, offer("balanced", 10, [2]int64{1, 10}))},
			[]string{"all 4 keep what they request for the next 1h", "0h: 4, 0 unpredicted, 8000 free", "1h: 4, 0 unpredicted, 8000 free", "a: 4 of 4 for 1h by balanced"},
		},
		"a peak that is near": {
			twoCores, []Node{node("a", 4, offer("balanced", 10, [2]int64{24, 1}))},
			[]string{
				"none of 4 keeps what it requests for the next 24h; the first may lose it at any time",
				"0h: 4, 0 unpredicted, 8000 free", "24h: 0, 0 unpredicted, 0 free", "a: 0 of 4 for 24h by balanced",
			},
		},
		"the agents know the peak and not when": {
			twoCores, []Node{node("a", 4, offer("koordlet", 10, [2]int64{0, 7}))},
			[]string{
				"2 of 4 keep what they request while services use no more than the peak that koordlet learned; when it comes is not predicted",
				"0h: 4, 0 unpredicted, 8000 free", "at the peak: 2, 0 unpredicted, 5000 free", "a: 2 of 4 for 0h by koordlet",
			},
		},
		"one pool predicts an hour, one a day, the agent of another its peak, and one nothing": {
			twoCores, []Node{
				node("a", 1, offer("balanced", 4, [2]int64{1, 4})), node("b", 1, offer("seasonal", 4, [2]int64{24, 3})),
				node("c", 1, offer("koordlet", 4, [2]int64{0, 3})), node("d", 1, offer("", 4)),
			},
			[]string{
				"none of 4 keeps what it requests for the next 24h; the first may lose it at any time; of 2 it is not predicted that far",
				"0h: 4, 0 unpredicted, 8000 free", "1h: 1, 1 unpredicted, 4000 free", "24h: 0, 2 unpredicted, 2000 free",
				"a: 1 of 1 for 1h by balanced", "b: 0 of 1 for 24h by seasonal", "c: 0 of 1 for 0h by koordlet", "d: - of 1 for 0h by ",
			},
		},
		"the scarcer resource counts": {
			withMemory, []Node{node("a", 2, offer("seasonal", 10, [2]int64{24, 10}), byRequest)},
			[]string{"all 2 keep what they request for the next 24h", "0h: 2, 0 unpredicted, 8000 free", "24h: 2, 0 unpredicted, 8000 free", "a: 2 of 2 for 24h by seasonal"},
		},
		"pods that wait take some before": {
			twoCores, []Node{{Name: "a", Copies: 2, Taken: map[string]int64{cpu: 5000}, Offers: []diagnosticsv1alpha1.OfferOutlook{offer("seasonal", 11, [2]int64{24, 10})}}},
			[]string{
				"1 of 2 keeps what it requests for the next 24h; the first may lose it at any time",
				"0h: 2, 0 unpredicted, 4000 free", "24h: 1, 0 unpredicted, 3000 free", "a: 1 of 2 for 24h by seasonal",
			},
		},
		"nothing predicts": {
			twoCores, []Node{node("a", 2, offer("", 10))},
			[]string{"for how long they keep what they request is unknown: noted (node a)", "0h: 2, 0 unpredicted, 8000 free", "a: - of 2 for 0h by "},
		},
		"the node is new": {
			twoCores, []Node{{Name: "a-new-1", Copies: 2, Problem: "the node does not exist yet"}},
			[]string{"for how long they keep what they request is unknown: the node does not exist yet", "0h: 2, 0 unpredicted, 0 free", "a-new-1: - of 2 for 0h by "},
		},
		"pods of services": {map[string]int64{"cpu": 1000}, []Node{node("a", 2)}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, said(Decide(Input{Requests: test.requests, Nodes: test.nodes}))); diff != "" {
				t.Errorf("outlook (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatLastsNeverGrowsBack: of offers that never grow, ever fewer copies last, and never more than were placed.
func TestWhatLastsNeverGrowsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Input{Requests: map[string]int64{cpu: rapid.Int64Range(1, 5000).Draw(t, "request")}}
		placed := int32(0)
		for n := range rapid.IntRange(1, 4).Draw(t, "nodes") {
			cores, o := rapid.Int64Range(0, 20).Draw(t, "cores"), offer("seasonal", 20)
			for _, hours := range []int64{1, 8, 24} {
				o.Steps = append(o.Steps, diagnosticsv1alpha1.OfferStep{WithinSeconds: hours * hour, Offered: cores * 1000})
				cores = rapid.Int64Range(0, cores).Draw(t, "later")
			}
			copies := rapid.Int32Range(0, 9).Draw(t, "copies")
			placed += copies
			in.Nodes = append(in.Nodes, node(fmt.Sprint(n), copies, o))
		}
		before := placed
		for _, step := range Decide(in).Steps {
			if step.Copies > before || step.Copies < 0 {
				t.Fatalf("%d copies last after %d: %+v", step.Copies, before, step)
			}
			before = step.Copies
		}
	})
}
