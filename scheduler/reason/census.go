package reason

import (
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// ReservationCounter is a plugin that knows which reservations a pod may use, and why it cannot use the others.
type ReservationCounter interface {
	fwk.Plugin
	// CountReservations that match the pod of a cycle, with at most limit names for each reason; nil for a pod that none matches.
	CountReservations(state fwk.CycleState, limit int) *diagnosticsv1alpha1.ReservationCensus
}
