package deviceview

import (
	corev1 "k8s.io/api/core/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/device"
)

// Input is what the overview of a node's devices needs.
type Input struct {
	// Object is the Device of the node.
	Object *schedulingv1alpha1.Device
	// Labels of the node; nil where they are not known.
	Labels map[string]string
	// Pods that are bound to the node. Pods that have ended do not count.
	Pods []*corev1.Pod
	// Reservations that are on the node. Those that do not hold anything, or no longer, do not count.
	Reservations []*schedulingv1alpha1.Reservation
	// Policy by which koord-scheduler allocates devices; nil for the default.
	Policy *device.Policy
	// Unseen is true where pods or Reservations are missing: then what is held is not all, and nothing is said of what is free.
	Unseen bool
}
