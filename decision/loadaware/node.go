package loadaware

import (
	"time"

	corev1 "k8s.io/api/core/v1"

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
	Now      time.Time
}

// Node is a digest of NodeInput under one policy. It stays true until an input changes or ValidUntil has passed. It is
// read-only and safe for concurrent use.
type Node struct {
	name       string
	capacity   []int64
	thresholds thresholds
	metric     metric
	// everyone sums what assigned pods will use beyond what the metric reports of them; prod does so for prod pods.
	everyone, prod []int64
	pending        []pendingPod
	validUntil     time.Time
}

// pendingPod is an assigned pod that counts by its estimate.
type pendingPod struct {
	namespace, name string
	// prod is true for pods of the prod band.
	prod bool
	// beyond is the estimate less the reported usage, by resource number.
	beyond []int64
}

// Name of the node.
func (n *Node) Name() string { return n.name }

// ValidUntil is when the digest must be made anew even if no input changes; zero means never.
func (n *Node) ValidUntil() time.Time { return n.validUntil }

// Observe digests a node. It allocates; callers keep the result for as long as the inputs stay the same.
func (p *Policy) Observe(in NodeInput) *Node {
	node := &Node{
		name:       in.Node.Name,
		capacity:   p.capacity(in.Node),
		thresholds: p.thresholdsOf(in.Node),
		everyone:   make([]int64, len(p.resources)),
		prod:       make([]int64, len(p.resources)),
	}
	node.metric = p.readMetric(in.Metric, node)
	p.addPending(node, in)
	return node
}

// addPending sums, over the assigned pods, what the metric does not show yet.
func (p *Policy) addPending(node *Node, in NodeInput) {
	for _, assigned := range in.Assigned {
		reported, found := node.metric.pods[podKey{assigned.Pod.Namespace, assigned.Pod.Name}]
		deadline := p.estimateUntil(assigned)
		forced := in.Now.Before(deadline)
		if forced && (node.validUntil.IsZero() || deadline.Before(node.validUntil)) {
			node.validUntil = deadline
		}
		if found && !forced && !assigned.AssignedAt.After(node.metric.coveredUntil()) {
			continue
		}
		estimate := p.Estimate(assigned.Pod)
		pod := pendingPod{namespace: assigned.Pod.Namespace, name: assigned.Pod.Name, prod: estimate.Prod, beyond: estimate.Usage}
		counts := false
		for i := range pod.beyond {
			if found {
				pod.beyond[i] = max(0, pod.beyond[i]-reported[i])
			}
			counts = counts || pod.beyond[i] > 0
			node.everyone[i] += pod.beyond[i]
			if pod.prod {
				node.prod[i] += pod.beyond[i]
			}
		}
		if counts {
			node.pending = append(node.pending, pod)
		}
	}
}
