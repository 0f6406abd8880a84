package fragmentation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Trace records the numbers behind a verdict. The zero value is ready for use; a Trace serves one pass at a time.
type Trace struct {
	Nodes []NodeTrace
	// Skipped are the pods of imbalanced nodes that stay.
	Skipped []Skipped
}

// NodeTrace is the imbalance of a node before the pass changed it.
type NodeTrace struct {
	Name       string
	Imbalance  float64
	Imbalanced bool
	// Shares are what is requested of each resource, of 1.
	Shares []Share
}

// Share is the requested share of a resource.
type Share struct {
	Resource corev1.ResourceName
	Share    float64
}

// Skipped is a pod that stays, and why.
type Skipped struct{ Node, Namespace, Name, Reason string }

func (t *Trace) begin() {
	if t != nil {
		*t = Trace{}
	}
}

func (t *Trace) node(node *nodeState, imbalance float64, imbalanced bool) {
	if t == nil {
		return
	}
	recorded := NodeTrace{Name: node.Name, Imbalance: imbalance, Imbalanced: imbalanced}
	for i, name := range node.resources {
		recorded.Shares = append(recorded.Shares, Share{name, node.requested[i] / node.allocatable[i]})
	}
	t.Nodes = append(t.Nodes, recorded)
}

func (t *Trace) skipped(node *nodeState, pod *corev1.Pod, reason string) {
	if t != nil {
		t.Skipped = append(t.Skipped, Skipped{Node: node.Name, Namespace: pod.Namespace, Name: pod.Name, Reason: reason})
	}
}

// Message says what a pass does: "1 pod(s) leave 2 imbalanced node(s) of 5".
func (t *Trace) Message(verdict Verdict) string {
	imbalanced := 0
	for i := range t.Nodes {
		if t.Nodes[i].Imbalanced {
			imbalanced++
		}
	}
	return fmt.Sprintf("%d pod(s) leave %d imbalanced node(s) of %d", len(verdict.Moves), imbalanced, len(t.Nodes))
}

// Operands are the requested shares of the imbalanced nodes, in percent.
func (t *Trace) Operands(Verdict) []diagnosticsv1alpha1.Term {
	var terms []diagnosticsv1alpha1.Term
	for i := range t.Nodes {
		if !t.Nodes[i].Imbalanced {
			continue
		}
		for _, share := range t.Nodes[i].Shares {
			terms = append(terms, diagnosticsv1alpha1.Term{
				Name: "requested", Operator: diagnosticsv1alpha1.Info, Value: int64(share.Share * 100), Unit: diagnosticsv1alpha1.Percent,
				Note: string(share.Resource), Source: &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: t.Nodes[i].Name},
			})
		}
	}
	return terms
}
