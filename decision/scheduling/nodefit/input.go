package nodefit

import corev1 "k8s.io/api/core/v1"

// Input of Decide.
type Input struct {
	Pod  *Pod
	Node *corev1.Node
	// Pods of the node that have not ended, without the pod itself.
	Pods []*corev1.Pod
	// PodsUnknown is true when they could not be read. Requests are compared with the whole node then.
	PodsUnknown bool
}
