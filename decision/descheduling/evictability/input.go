package evictability

import corev1 "k8s.io/api/core/v1"

// Input of Decide.
type Input struct {
	Pod    *corev1.Pod
	Policy Policy
	// Nodes that the pod could move to. The pod's own may be among them and is left out. They are read for NodeFit only.
	Nodes []Node
}

// Node is a node with its pods that have not ended.
type Node struct {
	*corev1.Node
	Pods []*corev1.Pod
}
