package lownodeload

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/descheduling/podorder"
)

// Trace records the numbers behind a verdict. The zero value is ready for use; a Trace serves one pass at a time.
type Trace struct {
	// Nodes in the order in which they were classified.
	Nodes []NodeTrace
	// Parts in the order of the verdict.
	Parts []PartTrace
	// Victims in the order of the verdict.
	Victims []VictimTrace
	// Skipped are the pods of overutilized nodes that stay.
	Skipped []Skipped
}

// NodeTrace is the numbers of one node as they were when the pass began, and why pods stopped leaving it.
type NodeTrace struct {
	Name, Pool string
	Class      Class
	Problem    string
	// Unschedulable nodes take no pods, and are never underutilized.
	Unschedulable bool
	Usage         []Comparison
	// ProdUsage is empty without thresholds for prod.
	ProdUsage []Comparison
	History   NodeHistory
	Condition AnomalyCondition
	// Ended says why no more pods leave the node; empty for one that pods do not leave.
	Ended string
}

// Comparison is the usage of a resource and its thresholds, in milliCPU or the resource's own unit and in percent of capacity.
type Comparison struct {
	Resource                             corev1.ResourceName
	Used, Capacity, Low, High            int64
	UsedPercent, LowPercent, HighPercent float64
	// Over is true for a usage above the high threshold.
	Over bool
}

// PartTrace is what the underutilized nodes of a part could take when it began.
type PartTrace struct {
	Pool      string
	Prod      bool
	Targets   []string
	Sources   []string
	Available []Available
}

// Available is an amount of a resource.
type Available struct {
	Resource corev1.ResourceName
	Amount   int64
}

// VictimTrace is why a pod was the next to leave.
type VictimTrace struct {
	Rank podorder.Rank
	// Node that it leaves, and a node that it fits on.
	Node, Target string
	// Excess is what the node used too much, Used what the pod uses, and Left what the underutilized nodes can take after it.
	Excess, Used, Left []Available
}

// Skipped is a pod that stays, and why.
type Skipped struct{ Node, Namespace, Name, Reason string }

func (t *Trace) begin() {
	if t != nil {
		*t = Trace{}
	}
}

func (t *Trace) classified(node *nodeState, requests bool) {
	if t == nil {
		return
	}
	recorded := NodeTrace{Name: node.Name, Pool: node.pool.name, Class: node.class, Problem: node.problem, Unschedulable: node.Spec.Unschedulable, History: node.history, Condition: node.pool.condition}
	if node.problem == "" {
		recorded.Usage = node.comparisons(node.usage, &node.node, requests)
		if node.pool.prod {
			recorded.ProdUsage = node.comparisons(node.prodUsage, &node.prod, false)
		}
	}
	t.Nodes = append(t.Nodes, recorded)
}

func (s *nodeState) comparisons(usage []int64, limits *limits, percent bool) []Comparison {
	out := make([]Comparison, len(usage))
	for i, name := range s.pool.resources {
		out[i] = Comparison{
			Resource: name, Used: usage[i], Capacity: s.capacity[i], Low: limits.low[i], High: limits.high[i],
			UsedPercent: s.percentOf(usage, i), LowPercent: limits.lowPercent[i], HighPercent: limits.highPercent[i],
			Over: s.exceeds(usage, limits, i, percent),
		}
	}
	return out
}

func (t *Trace) partBegun(begun *part) {
	if t == nil {
		return
	}
	recorded := PartTrace{Pool: begun.pool.name, Prod: begun.prod, Available: begun.pool.amounts(begun.available)}
	for _, node := range begun.targets.nodes {
		recorded.Targets = append(recorded.Targets, node.Name)
	}
	for _, node := range begun.sources {
		recorded.Sources = append(recorded.Sources, node.Name)
	}
	t.Parts = append(t.Parts, recorded)
}

// amounts names amounts that are not zero.
func (p *pool) amounts(values []int64) []Available {
	var out []Available
	for i, value := range values {
		if value != 0 {
			out = append(out, Available{p.resources[i], value})
		}
	}
	return out
}

// leaving records a victim before it is taken from its node.
func (t *Trace) leaving(from *source, pod *candidate, to *target) {
	if t == nil {
		return
	}
	excess, _ := from.excess()
	left := make([]int64, len(excess))
	addInto(left, from.part.available)
	subtractFrom(left, pod.usage)
	recorded := VictimTrace{
		Rank: pod.rank, Node: from.Name, Excess: from.pool.amounts(excess), Used: from.pool.amounts(pod.usage), Left: from.pool.amounts(left),
	}
	if to != nil {
		recorded.Target = to.Name
	}
	t.Victims = append(t.Victims, recorded)
}

func (t *Trace) skipped(node string, pod *corev1.Pod, reason string) {
	if t != nil {
		t.Skipped = append(t.Skipped, Skipped{Node: node, Namespace: pod.Namespace, Name: pod.Name, Reason: reason})
	}
}

func (t *Trace) left(node *source, reason string) {
	if t == nil {
		return
	}
	for i := range t.Nodes {
		if t.Nodes[i].Name == node.Name {
			t.Nodes[i].Ended = reason
		}
	}
}

// Message says what a pass does: "2 pods leave 1 of 3 overutilized nodes; 4 nodes are underutilized".
func (t *Trace) Message(verdict Verdict) string {
	var parts []string
	for _, part := range verdict.Parts {
		kind := ""
		if part.Prod {
			kind = " by prod pods"
		}
		text := fmt.Sprintf("node pool %s: %d node(s) overutilized%s, %d underutilized", part.Pool, part.Overutilized, kind, part.Underutilized)
		if part.Stop != "" {
			text += ": " + part.Stop
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "no node pool has nodes and thresholds"
	}
	return fmt.Sprintf("%d pod(s) leave; %s", len(verdict.Victims), strings.Join(parts, "; "))
}

// Node returns the numbers of a node, false for one of no pool.
func (t *Trace) Node(name string) (NodeTrace, bool) {
	for i := range t.Nodes {
		if t.Nodes[i].Name == name {
			return t.Nodes[i], true
		}
	}
	return NodeTrace{}, false
}

// Operands are the numbers of the victims, in the order in which they leave: what the node used too much, and what the pod uses.
func (t *Trace) Operands(Verdict) []diagnosticsv1alpha1.Term {
	var terms []diagnosticsv1alpha1.Term
	for i := range t.Victims {
		victim := &t.Victims[i]
		pod := &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: victim.Rank.Namespace, Name: victim.Rank.Name}
		node := &diagnosticsv1alpha1.SourceRef{Kind: "NodeMetric", Name: victim.Node}
		terms = append(terms, termsOf("excess", victim.Excess, node)...)
		terms = append(terms, termsOf("podUsage", victim.Used, pod)...)
		terms = append(terms, termsOf("availableAfter", victim.Left, nil)...)
	}
	return terms
}

func termsOf(name string, amounts []Available, source *diagnosticsv1alpha1.SourceRef) []diagnosticsv1alpha1.Term {
	var terms []diagnosticsv1alpha1.Term
	for _, available := range amounts {
		terms = append(terms, diagnosticsv1alpha1.Term{
			Name: name, Operator: diagnosticsv1alpha1.Info, Value: available.Amount, Unit: amount.UnitOf(available.Resource), Source: source,
			Note: string(available.Resource),
		})
	}
	return terms
}
