package reason

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// RefusedNode is a node that one plugin refuses for a pod, and no other.
type RefusedNode struct {
	// Info is the node as Filter saw it, and State what PreFilter wrote for it.
	Info  fwk.NodeInfo
	State fwk.CycleState
	// Reasons of the plugin, at least one.
	Reasons []string
}

// ClusterAdviser is a plugin that chooses among all nodes which only it refuses, such as those nearest to a threshold.
type ClusterAdviser interface {
	fwk.Plugin
	// AdviseCluster proposes changes, as Advise does, each for the node that its fix names. It must be safe for concurrent use.
	AdviseCluster(ctx context.Context, pod *corev1.Pod, nodes []RefusedNode) []Change
}

// Releaser is a plugin that knows pods which hold resources for others and end rather than being evicted, such as reserve pods.
type Releaser interface {
	fwk.Plugin
	// Release proposes how the resources that a pod holds on a node become free, false for pods that are evicted as others are. It
	// must be safe for concurrent use.
	Release(held *corev1.Pod, node string) (Change, bool)
}

// NodePolicies is a plugin that obeys labels by which a node imposes something on all its pods.
type NodePolicies interface {
	fwk.Plugin
	// NodePolicyLabels lists their keys.
	NodePolicyLabels() []string
}
