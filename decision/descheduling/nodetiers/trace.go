package nodetiers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Trace records the numbers behind a verdict. The zero value is ready for use; a Trace serves one pass at a time.
type Trace struct {
	Tiers []TierTrace
	// Kept are the nodes whose tier keeps what is requested of them.
	Kept []string
	// Skipped are the pods that stay.
	Skipped []Skipped
}

// TierTrace is how many nodes a tier has, and how many there are in the tiers after it.
type TierTrace struct {
	Name           string
	Nodes, Targets int
}

// Skipped is a pod that stays, and why.
type Skipped struct{ Node, Namespace, Name, Reason string }

func (t *Trace) begin() {
	if t != nil {
		*t = Trace{}
	}
}

func (t *Trace) tier(name string, nodes, targets int) {
	if t != nil {
		t.Tiers = append(t.Tiers, TierTrace{name, nodes, targets})
	}
}

func (t *Trace) kept(node string) {
	if t != nil {
		t.Kept = append(t.Kept, node)
	}
}

func (t *Trace) skipped(node string, pod *corev1.Pod, reason string) {
	if t != nil {
		t.Skipped = append(t.Skipped, Skipped{Node: node, Namespace: pod.Namespace, Name: pod.Name, Reason: reason})
	}
}

// Message says what a pass does: "3 pod(s) leave 2 node(s)".
func (t *Trace) Message(verdict Verdict) string {
	pods := 0
	for i := range verdict.Departures {
		pods += len(verdict.Departures[i].Moves)
	}
	return fmt.Sprintf("%d pod(s) leave %d node(s) for nodes of later tiers", pods, len(verdict.Departures))
}

// Operands are how many nodes each tier has.
func (t *Trace) Operands(Verdict) []diagnosticsv1alpha1.Term {
	var terms []diagnosticsv1alpha1.Term
	for _, tier := range t.Tiers {
		terms = append(terms, diagnosticsv1alpha1.Term{
			Name: "nodes", Operator: diagnosticsv1alpha1.Info, Value: int64(tier.Nodes), Unit: diagnosticsv1alpha1.Count, Note: tier.Name,
		})
	}
	return terms
}
