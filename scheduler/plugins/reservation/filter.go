package reservation

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/recovery"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// Filter refuses nodes to pods that must use a reservation and have none there, and to reserve pods that belong elsewhere.
func (p *Plugin) Filter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Filter, pod, &status)
	c, node := cycleOf(state), info.Node().Name
	if c == nil {
		return nil
	}
	if decision.IsReservePod(pod) {
		return p.filterReservePod(c, pod, node)
	}
	if !c.demand.Required || c.demand.Ignored {
		return nil
	}
	offer := c.nodes[node]
	switch {
	case offer == nil:
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, decision.ReasonAffinity)
	case offer.chosen != nil || p.fitsWithout(c, offer, info):
		return nil
	case offer.refusal.Reason != "":
		return fwk.NewStatus(fwk.Unschedulable, decision.ReasonUnfit, decision.UnfitReason(offer.refusal))
	}
	return fwk.NewStatus(fwk.Unschedulable, decision.ReasonUnfit)
}

// fitsWithout reports whether the pod fits into a reservation of the node without those of its users that are missing from the
// node, as when preemption tries their eviction.
func (p *Plugin) fitsWithout(c *cycle, offer *onNode, info fwk.NodeInfo) bool {
	present := make(map[types.UID]bool, len(info.GetPods()))
	for _, other := range info.GetPods() {
		present[other.GetPod().UID] = true
	}
	for _, view := range offer.views {
		users := remaining(view, present)
		if len(users) == len(view.Pods) {
			continue
		}
		room := decision.Room{Allocatable: amountsOf(info.GetAllocatable()), Requested: amountsOf(info.GetRequested())}
		if decision.Fit(c.demand, view.Reservation, decision.UseOf(view.Reservation, users), room, p.ignore).Passed() {
			return true
		}
	}
	return false
}

func remaining(view *reservations.View, present map[types.UID]bool) map[types.UID]decision.User {
	users := map[types.UID]decision.User{}
	for uid, user := range view.Pods {
		if present[uid] {
			users[uid] = user
		}
	}
	return users
}
