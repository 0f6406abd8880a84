package agentview

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// Node is what the objects of the cluster, and measurements of it, say about one node. Nothing in it is modified.
type Node struct {
	// Now is the time of the answer.
	Now time.Time
	// Object is the Node; never nil.
	Object *corev1.Node
	// SLO is what the cluster wants of the node; nil for nothing, and when it could not be read.
	SLO *slov1alpha1.NodeSLOSpec
	// Topology is the NodeResourceTopology; nil when there is none, or it could not be read.
	Topology *topologyv1alpha1.NodeResourceTopology
	// Pods that are bound to the node and have not ended.
	Pods []*corev1.Pod
	// Observation is when Used was measured; a zero one means that nothing was.
	Observation freshness.Observation
	// Used by the whole node.
	Used podrequest.Amount
	// PodUsed is what a pod uses; false when it was not measured.
	PodUsed func(*corev1.Pod) (podrequest.Amount, bool)
	// Samples of what the node used, in any order, for its trend.
	Samples []Sample
	// Past is what the node used before; nil when it was not recorded.
	Past *diagnosticsv1alpha1.UsageHistory
	// Unknown are the inputs that could not be read: NodeSLOs, Topologies, Pods or NodeMetrics. Nothing is concluded from their
	// absence.
	Unknown unknown.Inputs
	// On says which features that evict are switched on.
	On map[eviction.Feature]bool
	// Settings fills in what is set for pods, and which of it could not be read; nil when it is not known.
	Settings func(*diagnosticsv1alpha1.AgentExplanation)
}

// Sample is what the node used at a time.
type Sample struct {
	At   time.Time
	Used podrequest.Amount
}

// strategy in force; nil is disabled.
func (n *Node) strategy() *slov1alpha1.ResourceThresholdStrategy {
	if n.SLO == nil {
		return nil
	}
	return n.SLO.ResourceUsedThresholdWithBE
}

// used by a pod; nil when it was not measured.
func (n *Node) used(pod *corev1.Pod) *podrequest.Amount {
	if n.PodUsed == nil {
		return nil
	}
	amount, measured := n.PodUsed(pod)
	if !measured {
		return nil
	}
	return &amount
}

// annotations of the NodeResourceTopology.
func (n *Node) annotations() map[string]string {
	if n.Topology == nil {
		return nil
	}
	return n.Topology.Annotations
}

// cpus of the node as the NodeResourceTopology lists them; nil when it does not.
func (n *Node) cpus() *cpuset.Topology {
	listed, err := extension.GetCPUTopology(n.annotations())
	if err != nil || listed == nil {
		return nil
	}
	topology, err := cpuset.NewTopology(listed)
	if err != nil {
		return nil
	}
	return topology
}
