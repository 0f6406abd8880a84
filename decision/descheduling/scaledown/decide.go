package scaledown

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/descheduling/placement"
	"koordinator.sh/koord/decision/descheduling/podorder"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// Verdict is what a pass does.
type Verdict struct {
	// Nodes with pods that are ranked, in the order in which they are emptied.
	Nodes []Node
	// Ranked pods, the first to leave first.
	Ranked []Ranked
	// Costs to write, of the pods whose deletion cost is another.
	Costs []Cost
	// Evict is true when the ranked pods are evicted, at most MaxEvictions of them; 0 is no limit.
	Evict        bool
	MaxEvictions int
}

// Node is a node with its score: what other pods request for each unit that the ranked pods do. +Inf is a node on which ranked pods
// request nothing and others do.
type Node struct {
	Name  string
	Score float64
	Pods  int
}

// Ranked is a pod with its rank, 0 for the first to leave.
type Ranked struct {
	Pod  *corev1.Pod
	Node string
	Rank int32
}

// Cost is the deletion cost of a pod.
type Cost struct {
	Pod  *corev1.Pod
	Cost int32
}

// Reason of evictions.
const Reason = "scale-down binpack"

// last is the deletion cost of pods that are selected and may not be evicted: they leave last.
const last = math.MaxInt32

// nodeState is a node with the pods that are ranked and those that are not.
type nodeState struct {
	placement.NodePods
	ranked []sized
	score  float64
}

// sized is a pod with the share of its node that it requests.
type sized struct {
	*corev1.Pod
	size float64
}

// Decide ranks pods for a scale-down. A nil trace records nothing.
func Decide(in Input, trace *Trace) Verdict {
	trace.begin()
	verdict := Verdict{Evict: in.Policy.args.Strategy == EvictDirectly}
	if limit := in.Policy.args.MaxPodsToEvict; limit != nil {
		verdict.MaxEvictions = int(*limit)
	}
	if *in.Policy.args.Paused {
		return verdict
	}
	var nodes []*nodeState
	for i := range in.Nodes {
		if !in.Policy.nodes.Matches(labels.Set(in.Nodes[i].Labels)) {
			continue
		}
		node, protected := read(&in, in.Nodes[i], trace)
		if len(node.ranked) == 0 {
			continue
		}
		nodes = append(nodes, node)
		for _, pod := range protected {
			verdict.cost(pod, last)
		}
	}
	slices.SortFunc(nodes, func(a, b *nodeState) int {
		return cmp.Or(cmp.Compare(a.score, b.score), len(a.ranked)-len(b.ranked), strings.Compare(a.Name, b.Name))
	})
	for _, node := range nodes {
		verdict.rank(node)
	}
	return verdict
}

// read sorts the pods of a node into those that are ranked, and those that would be if they could be evicted; and scores the node.
func read(in *Input, from placement.NodePods, trace *Trace) (node *nodeState, protected []*corev1.Pod) {
	node = &nodeState{NodePods: from}
	mine, others := 0.0, 0.0
	for _, pod := range from.Pods {
		size := sizeOf(pod, from.Node, &in.Policy.args)
		switch reason := in.Policy.selection.Refuses(pod); {
		case reason != "":
			others += size
		case in.Protected[pod.UID] != "":
			others += size
			protected = append(protected, pod)
			trace.skipped(from.Name, pod, in.Protected[pod.UID])
		default:
			mine += size
			node.ranked = append(node.ranked, sized{pod, size})
		}
	}
	switch {
	case mine > 0:
		node.score = others / mine
	case others > 0:
		node.score = math.Inf(1)
	}
	trace.node(node, mine, others)
	return node, protected
}

// sizeOf is the weighted sum of the shares of a node that a pod requests.
func sizeOf(pod *corev1.Pod, node *corev1.Node, args *Args) float64 {
	size, requests := 0.0, nodefit.RequestsOf(pod)
	for _, name := range args.Resources {
		size += args.ResourceWeights[name] * shareOf(name, requests, node)
	}
	return size
}

func shareOf(name corev1.ResourceName, requests corev1.ResourceList, node *corev1.Node) float64 {
	asked, capacity := podrequest.Milli(requests[name]), podrequest.Milli(node.Status.Capacity[name])
	if asked <= 0 || capacity <= 0 {
		return 0
	}
	return float64(asked) / float64(capacity)
}

// rank ranks the pods of a node: the largest first, and then the newest.
func (v *Verdict) rank(node *nodeState) {
	slices.SortFunc(node.ranked, func(a, b sized) int {
		return cmp.Or(
			cmp.Compare(b.size, a.size), b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
			strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name),
		)
	})
	v.Nodes = append(v.Nodes, Node{Name: node.Name, Score: node.score, Pods: len(node.ranked)})
	for _, pod := range node.ranked {
		rank := int32(min(len(v.Ranked), last-1))
		v.Ranked = append(v.Ranked, Ranked{Pod: pod.Pod, Node: node.Name, Rank: rank})
		v.cost(pod.Pod, rank)
	}
}

// cost adds a deletion cost that is to be written, unless the pod has it already.
func (v *Verdict) cost(pod *corev1.Pod, cost int32) {
	if v.Evict {
		return
	}
	_, set := pod.Annotations[corev1.PodDeletionCost]
	if current, err := podorder.DeletionCost(pod.Annotations); !set || err != nil || current != cost {
		v.Costs = append(v.Costs, Cost{pod, cost})
	}
}
