package reservationview

import (
	corev1 "k8s.io/api/core/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Input is what overviews of Reservations need.
type Input struct {
	Reservations []schedulingv1alpha1.Reservation
	// Pods of the cluster.
	Pods []corev1.Pod
	// Unseen is true where pods are missing: then no pod counts as gone.
	Unseen bool
}
