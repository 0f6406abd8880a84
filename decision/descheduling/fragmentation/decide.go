package fragmentation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/decision/descheduling/placement"
)

// Verdict is what a pass does.
type Verdict struct {
	// Moves, at most one from each node.
	Moves []Move
	// DryRun says that the pods stay.
	DryRun bool
}

// Move is a pod that leaves its node.
type Move struct {
	Pod *corev1.Pod
	// Node that it leaves, and one that it fits on; empty without nodeFit.
	Node, Target string
	// Before and After are the imbalance of the node with the pod and without.
	Before, After float64
	Reason        string
}

// candidate is a pod of an imbalanced node.
type candidate struct {
	pod   *corev1.Pod
	after float64
}

// Decide says which pods leave imbalanced nodes. A nil trace records nothing.
func Decide(in Input, trace *Trace) Verdict {
	trace.begin()
	verdict := Verdict{DryRun: *in.Policy.args.DryRun}
	if *in.Policy.args.Paused {
		return verdict
	}
	nodes := make([]*nodeState, 0, len(in.Nodes))
	for i := range in.Nodes {
		if in.Policy.nodes.Matches(labels.Set(in.Nodes[i].Labels)) {
			nodes = append(nodes, newNodeState(in.Nodes[i], in.Policy.args.Resources))
		}
	}
	for _, node := range nodes {
		before := node.imbalance(nil, 0)
		imbalanced := before > *in.Policy.args.ImbalanceThreshold
		trace.node(node, before, imbalanced)
		if !imbalanced {
			continue
		}
		if move, found := choose(&in, node, nodes, before, trace); found {
			verdict.Moves = append(verdict.Moves, move)
		}
	}
	return verdict
}

// choose returns the pod whose departure lowers the imbalance of its node most, of those that may leave and have a place to go.
func choose(in *Input, node *nodeState, nodes []*nodeState, before float64, trace *Trace) (Move, bool) {
	for _, next := range candidates(in, node, before, trace) {
		move := Move{Pod: next.pod, Node: node.Name, Before: before, After: next.after}
		move.Reason = fmt.Sprintf("fragmentation reduction: stdBefore=%.4f stdAfter=%.4f gain=%.4f", before, next.after, before-next.after)
		if !*in.Policy.args.NodeFit {
			node.add(node.requestsOf(next.pod), -1)
			return move, true
		}
		target := bestTarget(node, nodes, next.pod, before-next.after-*in.Policy.args.MinImprovementThreshold)
		if target == nil {
			trace.skipped(node, next.pod, "it fits on no node that does not become as imbalanced")
			continue
		}
		move.Target = target.Name
		node.add(node.requestsOf(next.pod), -1)
		target.add(target.requestsOf(next.pod), 1)
		target.place.Add(next.pod)
		return move, true
	}
	return Move{}, false
}

// candidates are the pods that lower the imbalance of their node by enough, the best first.
func candidates(in *Input, node *nodeState, before float64, trace *Trace) []candidate {
	var out []candidate
	for _, pod := range node.Pods {
		reason := in.Protected[pod.UID]
		if reason == "" {
			reason = in.Policy.selection.Refuses(pod)
		}
		after := node.imbalance(node.requestsOf(pod), -1)
		if reason == "" && before-after <= *in.Policy.args.MinImprovementThreshold {
			reason = fmt.Sprintf("without it, the imbalance is %.4f", after)
		}
		if reason != "" {
			trace.skipped(node, pod, reason)
			continue
		}
		out = append(out, candidate{pod, after})
	}
	slices.SortStableFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.after, b.after), strings.Compare(a.pod.Namespace, b.pod.Namespace), strings.Compare(a.pod.Name, b.pod.Name))
	})
	return out
}

// bestTarget is the node that takes the pod and is least imbalanced with it, if that costs less than is gained.
func bestTarget(from *nodeState, nodes []*nodeState, pod *corev1.Pod, gain float64) *nodeState {
	var best *nodeState
	asked, lowest := placement.NewPod(pod), 0.0
	for _, node := range nodes {
		if node == from {
			continue
		}
		after := node.imbalance(node.requestsOf(pod), 1)
		if after-node.imbalance(nil, 0) >= gain || best != nil && after >= lowest || !node.place.Fits(asked) {
			continue
		}
		best, lowest = node, after
	}
	return best
}
