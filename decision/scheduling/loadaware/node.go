package loadaware

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// AssignedPod is a pod that counts on a node: bound to it, or reserved for it a moment ago.
type AssignedPod struct {
	Pod *corev1.Pod
	// AssignedAt is when the scheduler chose the node, or when the pod was first seen there.
	AssignedAt time.Time
}

// NodeInput is what is known of one node. None of it is changed.
type NodeInput struct {
	Node *corev1.Node
	// Metric is nil when the node has no NodeMetric.
	Metric *slov1alpha1.NodeMetric
	// Assigned lists the pods on the node that have neither succeeded nor failed.
	Assigned []AssignedPod
}

// Node is a digest of NodeInput under one policy. It stays true until an input changes. It is
// read-only and safe for concurrent use.
type Node struct {
	name       string
	capacity   []int64
	thresholds thresholds
	metric     metric
	// everyone sums what assigned pods will use beyond what the metric reports of them; prod does so for prod pods.
	everyone, prod []int64
	pending        []pendingPod
}

// pendingPod is an assigned pod that counts by its estimate.
type pendingPod struct {
	namespace, name string
	// beyond is the estimate less the reported usage, by resource number; nil when the pod counts as measured.
	beyond []int64
	// beyondProd is the same among prod pods; nil for pods of other bands.
	beyondProd []int64
}

// Name of the node.
func (n *Node) Name() string { return n.name }

// Observe digests a node. It allocates; callers keep the result for as long as the inputs stay the same.
func (p *Policy) Observe(in NodeInput) *Node { return p.observe(in, false) }

// observe is Observe. With nodeOnly, what single pods use is looked through and left out where nothing that is compared on the node needs it.
func (p *Policy) observe(in NodeInput, nodeOnly bool) *Node {
	node := &Node{
		name:       in.Node.Name,
		capacity:   p.capacity(in.Node),
		thresholds: p.thresholdsOf(in.Node),
		everyone:   make([]int64, len(p.resources)),
		prod:       make([]int64, len(p.resources)),
	}
	node.metric = p.readMetric(in.Metric, node, nodeOnly && node.thresholds.prod == nil)
	for _, assigned := range in.Assigned {
		p.addAssigned(node, assigned)
	}
	node.pack()
	return node
}

// pack puts the amounts that Filter and Score read side by side in memory: they are read for every node and pod, and fetching
// them is most of what that costs.
func (n *Node) pack() {
	amounts := []*[]int64{&n.capacity, &n.metric.latest, &n.everyone, &n.metric.score, &n.metric.prod, &n.prod, &n.metric.aggregated}
	packed := make([]int64, 0, len(amounts)*len(n.capacity))
	for _, list := range amounts {
		if *list != nil {
			from := len(packed)
			packed = append(packed, *list...)
			*list = packed[from:len(packed):len(packed)]
		}
	}
}

// addAssigned adds what the metric does not show of one assigned pod yet: its estimate, less what is reported of it,
// where it is not reported, was assigned too late for the report to cover it, or must count by its estimate for longer.
//
// A prod pod that is reported under another band is no part of the reported usage of prod pods, so that its whole
// estimate is added there; one that is reported as prod and is not is taken out of it.
func (p *Policy) addAssigned(node *Node, assigned AssignedPod) {
	key := podKey{assigned.Pod.Namespace, assigned.Pod.Name}
	reported, found := node.metric.pods[key]
	prod := extension.PodPriorityClassWithDefault(assigned.Pod) == extension.PriorityProd
	if found && reported.prod && !prod {
		for i, used := range reported.used {
			node.metric.prod[i] -= used
		}
		node.metric.pods[key] = reportedPod{used: reported.used}
	}
	early := !found || assigned.AssignedAt.After(node.metric.coveredUntil()) || p.estimateUntil(assigned).After(node.metric.updateTime)
	misreported := prod && found && !reported.prod
	if !early && !misreported {
		return
	}
	estimate := p.Estimate(assigned.Pod).Usage
	pod := pendingPod{namespace: assigned.Pod.Namespace, name: assigned.Pod.Name}
	if early {
		pod.beyond = less(estimate, reported.used)
		addInto(node.everyone, pod.beyond)
	}
	switch {
	case misreported:
		pod.beyondProd = estimate
	case prod:
		pod.beyondProd = pod.beyond
	}
	addInto(node.prod, pod.beyondProd)
	node.pending = append(node.pending, pod)
}

// less is what amounts have beyond others, at least zero each.
func less(amounts, others []int64) []int64 {
	beyond := make([]int64, len(amounts))
	copy(beyond, amounts)
	for i, other := range others {
		beyond[i] = max(0, beyond[i]-other)
	}
	return beyond
}
