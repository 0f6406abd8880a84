package reservation

import (
	"context"
	"encoding/json"
	"errors"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/api/extension"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/plugins/defaultprebind"
	"koordinator.sh/koord/scheduler/recovery"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// Reserve makes the pod a user of the reservation nominated on its node. The plugin must come after those that allocate CPUs and
// devices, because what they gave to the pod is no longer held by the reservation.
func (p *Plugin) Reserve(_ context.Context, state fwk.CycleState, pod *corev1.Pod, node string) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Reserve, pod, &status)
	if decision.IsReservePod(pod) {
		p.reserveAhead(state, pod, node)
		return nil
	}
	chosen, found := Nominated(state, node)
	if !found {
		if pod.Annotations[extension.AnnotationReservationAllocated] != "" {
			// A failed attempt left it there; bound with it, the pod would count as a user.
			defaultprebind.Annotate(state, extension.AnnotationReservationAllocated, "")
		}
		return nil
	}
	text, err := json.Marshal(extension.ReservationAllocated{Name: chosen.Name, UID: chosen.UID})
	if err != nil {
		return fwk.AsStatus(err)
	}
	if err := p.state.Assume(pod, chosen.UID, defaultprebind.Annotations(state)); err != nil {
		if errors.Is(err, reservations.ErrInactive) {
			return fwk.NewStatus(fwk.Unschedulable, err.Error())
		}
		return fwk.AsStatus(err)
	}
	defaultprebind.Annotate(state, extension.AnnotationReservationAllocated, string(text))
	return nil
}

// Unreserve takes back Reserve.
func (p *Plugin) Unreserve(_ context.Context, state fwk.CycleState, pod *corev1.Pod, node string) {
	defer recovery.Ignore(Name, recovery.Unreserve, pod)
	if decision.IsReservePod(pod) {
		if c := cycleOf(state); c != nil {
			for _, giving := range c.ahead[node] {
				p.state.Forget(giving.UID)
			}
		}
		return
	}
	if _, found := Nominated(state, node); found {
		p.state.Forget(pod.UID)
	}
}

// reserveAhead makes the pods whose room a reserve pod takes its users.
func (p *Plugin) reserveAhead(state fwk.CycleState, pod *corev1.Pod, node string) {
	if c := cycleOf(state); c != nil && len(c.ahead[node]) > 0 {
		p.state.Expect(pod.UID, node, c.ahead[node])
	}
}

// PreBindPreFlight skips every pod: the annotation travels with the binding. The plugin is one for PreBind because
// configurations enable it there.
func (p *Plugin) PreBindPreFlight(context.Context, fwk.CycleState, *corev1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, fwk.NewStatus(fwk.Skip)
}

// PreBind has nothing to do.
func (p *Plugin) PreBind(context.Context, fwk.CycleState, *corev1.Pod, string) *fwk.Status {
	return nil
}
