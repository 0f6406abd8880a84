package explain

import (
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/scheduler/plugins/reservation"
)

// censusOf tells what became of the reservations that a pod is an owner of, with at most limit of their names for each reason; nil
// for a pod that owns none.
func censusOf(state fwk.CycleState, limit int) *diagnosticsv1alpha1.ReservationCensus {
	census := reservation.Census(state)
	if census == nil || len(census.Entries) == 0 {
		return nil
	}
	published := &diagnosticsv1alpha1.ReservationCensus{Matched: int32(len(census.Entries))}
	for _, of := range census.Refused() {
		published.Refusals = append(published.Refusals, diagnosticsv1alpha1.ReservationRefusal{
			Code: string(of.Code), Reason: of.Reason, Count: int32(len(of.Names)), Names: of.Names[:min(limit, len(of.Names))],
		})
	}
	return published
}
