package deviceresource

import (
	corev1 "k8s.io/api/core/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Input is what the devices of one node are decided from. Nothing in it is modified.
type Input struct {
	// Node as the API server has it.
	Node *corev1.Node
	// Device of the node; nil when there is none.
	Device *schedulingv1alpha1.Device
	// Shared publishes gpu.shared too.
	Shared bool
}
