package reservation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/reason"
)

var (
	_ reason.Releaser           = &Plugin{}
	_ reason.Remediable         = &Plugin{}
	_ reason.ReservationCounter = &Plugin{}
)

// costEndReservation is that of resources that somebody counts on: no work is lost, but other work may have to wait.
const costEndReservation = 60.0

// Release implements reason.Releaser: a Reservation ends. Its reserve pod mostly has a higher priority than any other pod, and so
// is no victim.
func (p *Plugin) Release(held *corev1.Pod, node string) (reason.Change, bool) {
	if !decision.IsReservePod(held) {
		return reason.Change{}, false
	}
	return reason.Change{Cost: costEndReservation, Evict: []*corev1.Pod{held}, Fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixCluster, Kind: "endReservation", Node: node,
		Description: fmt.Sprintf("end %s, which holds resources on node %s", reason.Called(held), node),
		Steps:       []diagnosticsv1alpha1.FixStep{reason.Eviction(held)},
	}}, true
}

// Remedies implements reason.Remediable.
func (p *Plugin) Remedies(string) reason.Remedy { return reason.SmallerRequest }

// CountReservations implements reason.ReservationCounter.
func (p *Plugin) CountReservations(state fwk.CycleState, limit int) *diagnosticsv1alpha1.ReservationCensus {
	c := cycleOf(state)
	if c == nil || c.census == nil || len(c.census.Entries) == 0 {
		return nil
	}
	census := &diagnosticsv1alpha1.ReservationCensus{Matched: int32(len(c.census.Entries))}
	for _, of := range c.census.Refused() {
		census.Refusals = append(census.Refusals, diagnosticsv1alpha1.ReservationRefusal{
			Code: string(of.Code), Reason: of.Reason, Count: int32(len(of.Names)), Names: of.Names[:min(limit, len(of.Names))],
		})
	}
	return census
}
