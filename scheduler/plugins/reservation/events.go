package reservation

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/queueinghint"
	"koordinator.sh/koord/scheduler/recovery"
)

// ReservationEvents is the resource under which changes of Reservations reach the scheduling queue.
const ReservationEvents = fwk.EventResource("reservations.v1alpha1.scheduling.koordinator.sh")

// EventsToRegister names what may let a pod pass that the plugin refused: a reservation that it may use, a user that leaves
// one, and, for reserve pods, the node that is wanted or pods that give way.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return recovery.Hints(Name, []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: ReservationEvents, ActionType: fwk.Add | fwk.Update | fwk.Delete}, QueueingHintFn: p.afterReservation},
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.Update | fwk.Delete}, QueueingHintFn: p.afterPod},
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeAllocatable}, QueueingHintFn: p.afterNode},
	}), nil
}

func (p *Plugin) afterReservation(_ klog.Logger, pod *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	before, after, err := queueinghint.Objects[schedulingv1alpha1.Reservation](oldObject, newObject)
	if err != nil {
		return fwk.Queue, err
	}
	if decision.IsReservePod(pod) {
		return queueinghint.If(before != nil && decision.Active(before) && (after == nil || !decision.Active(after))), nil
	}
	demand, err := decision.NewDemand(pod)
	if err != nil {
		return fwk.QueueSkip, nil // until the pod changes
	}
	return queueinghint.If(usable(demand, after) && (!usable(demand, before) || freed(before, after))), nil
}

// usable reports whether a pod could use a reservation that has no users.
func usable(demand *decision.Demand, object *schedulingv1alpha1.Reservation) bool {
	if object == nil || !decision.Active(object) {
		return false
	}
	compiled, _ := decision.Compile(object) // owners that cannot be read match no pod
	return compiled.MatchesOwner(demand.Pod) && decision.Match(demand, compiled, decision.Use{}).Passed()
}

// freed reports whether a reservation has more left than before, because it holds more or less of it is in use.
func freed(before, after *schedulingv1alpha1.Reservation) bool {
	held, taken := decision.AmountsOf(before.Status.Allocatable), decision.AmountsOf(before.Status.Allocated)
	takenAfter := decision.AmountsOf(after.Status.Allocated)
	for name, value := range decision.AmountsOf(after.Status.Allocatable) {
		if value-takenAfter[name] > held[name]-taken[name] {
			return true
		}
	}
	return len(after.Status.CurrentOwners) < len(before.Status.CurrentOwners)
}

func (p *Plugin) afterPod(_ klog.Logger, pod *corev1.Pod, oldObject, newObject any) (fwk.QueueingHint, error) {
	before, ok := oldObject.(*corev1.Pod)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a pod event", oldObject)
	}
	if after, updated := newObject.(*corev1.Pod); updated {
		return queueinghint.If(before.UID == pod.UID && queueinghint.Edited(before, after)), nil
	}
	if decision.IsReservePod(pod) {
		object, found := p.state.Get(decision.NameOf(pod))
		return queueinghint.If(found && (object.Spec.PreAllocation || decision.IsReservePod(before))), nil
	}
	allocated, err := extension.GetReservationAllocated(before.Annotations)
	if err != nil || allocated == nil {
		// Room beyond a reservation matters only on the nodes that have one for the pod.
		for _, view := range p.state.OnNode(before.Spec.NodeName) {
			if view.MatchesOwner(pod) {
				return fwk.Queue, nil
			}
		}
		return fwk.QueueSkip, nil
	}
	view, found := p.state.ByUID(allocated.UID)
	return queueinghint.If(found && view.MatchesOwner(pod)), nil
}

func (p *Plugin) afterNode(_ klog.Logger, pod *corev1.Pod, _, newObject any) (fwk.QueueingHint, error) {
	node, ok := newObject.(*corev1.Node)
	if !ok {
		return fwk.Queue, fmt.Errorf("unexpected object %T in a node event", newObject)
	}
	if decision.IsReservePod(pod) {
		required := decision.RequiredNode(pod)
		return queueinghint.If(required == "" || required == node.Name), nil
	}
	for _, view := range p.state.OnNode(node.Name) {
		if view.MatchesOwner(pod) {
			return fwk.Queue, nil
		}
	}
	return fwk.QueueSkip, nil
}
