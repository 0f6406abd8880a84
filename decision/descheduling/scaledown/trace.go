package scaledown

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Trace records the numbers behind a verdict. The zero value is ready for use; a Trace serves one pass at a time.
type Trace struct {
	Nodes []NodeTrace
	// Skipped are the selected pods that may not be evicted.
	Skipped []Skipped
}

// NodeTrace is what the ranked pods of a node and all others request: weighted sums of shares of the node.
type NodeTrace struct {
	Name                  string
	Ranked, Others, Score float64
}

// Skipped is a pod that is not ranked, and why.
type Skipped struct{ Node, Namespace, Name, Reason string }

func (t *Trace) begin() {
	if t != nil {
		*t = Trace{}
	}
}

func (t *Trace) node(node *nodeState, ranked, others float64) {
	if t != nil {
		t.Nodes = append(t.Nodes, NodeTrace{Name: node.Name, Ranked: ranked, Others: others, Score: node.score})
	}
}

func (t *Trace) skipped(node string, pod *corev1.Pod, reason string) {
	if t != nil {
		t.Skipped = append(t.Skipped, Skipped{Node: node, Namespace: pod.Namespace, Name: pod.Name, Reason: reason})
	}
}

// Message says what a pass does: "12 pod(s) on 3 node(s) are ranked, 4 deletion cost(s) change".
func (t *Trace) Message(verdict Verdict) string {
	if verdict.Evict {
		return fmt.Sprintf("%d pod(s) on %d node(s) are ranked and evicted", len(verdict.Ranked), len(verdict.Nodes))
	}
	return fmt.Sprintf("%d pod(s) on %d node(s) are ranked, %d deletion cost(s) change", len(verdict.Ranked), len(verdict.Nodes), len(verdict.Costs))
}

// Operands are what ranked and other pods request of each node, in percent of it.
func (t *Trace) Operands(Verdict) []diagnosticsv1alpha1.Term {
	var terms []diagnosticsv1alpha1.Term
	for i := range t.Nodes {
		source := &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: t.Nodes[i].Name}
		terms = append(terms,
			diagnosticsv1alpha1.Term{Name: "ranked", Operator: diagnosticsv1alpha1.Info, Value: int64(t.Nodes[i].Ranked * 100), Unit: diagnosticsv1alpha1.Percent, Source: source},
			diagnosticsv1alpha1.Term{Name: "others", Operator: diagnosticsv1alpha1.Info, Value: int64(t.Nodes[i].Others * 100), Unit: diagnosticsv1alpha1.Percent, Source: source},
		)
	}
	return terms
}
