package reservepods

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
)

// observe keeps the scheduler's queue in step with the Reservations that wait for a node.
func (b *Bridge) observe(oldObject, newObject any) {
	after, ok := newObject.(*schedulingv1alpha1.Reservation)
	if !ok {
		return
	}
	before, _ := oldObject.(*schedulingv1alpha1.Reservation)
	if before != nil && before.UID != after.UID {
		b.leave(before)
		before = nil
	}
	ctx := klog.NewContext(context.Background(), klog.Background())
	was, is := b.waiting(before), b.waiting(after)
	switch {
	case was == nil && is != nil:
		b.scheduler.SchedulingQueue.Add(ctx, is)
	case was != nil && is == nil:
		b.leave(before)
	case was != nil && before.ResourceVersion != after.ResourceVersion && !onlyStatus(before, after):
		b.scheduler.SchedulingQueue.Update(ctx, was, is)
		// The queue knows which edits of a pod matter, but a template may change where pods cannot.
		b.scheduler.SchedulingQueue.Activate(klog.Background(), map[string]*corev1.Pod{is.Name: is})
	}
}

// onlyStatus reports whether an update changed nothing that matters to scheduling: the queue would otherwise retry a Reservation
// because of the condition that says why it is not scheduled.
func onlyStatus(before, after *schedulingv1alpha1.Reservation) bool {
	return before.Generation == after.Generation && maps.Equal(before.Labels, after.Labels) && maps.Equal(before.Annotations, after.Annotations)
}

// waiting returns the reserve pod of a Reservation that this scheduler is to find a node for, nil otherwise.
func (b *Bridge) waiting(object *schedulingv1alpha1.Reservation) *corev1.Pod {
	if object == nil || !decision.Pending(object) {
		return nil
	}
	pod := decision.ReservePod(object, b.profile, false)
	if _, responsible := b.scheduler.Profiles[pod.Spec.SchedulerName]; !responsible {
		return nil
	}
	return pod
}

func (b *Bridge) gone(object any) {
	if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	if r, ok := object.(*schedulingv1alpha1.Reservation); ok {
		b.leave(r)
	}
}

// leave takes a reserve pod out of the queue. One that waits for a permit is rejected; one that is being bound fails to be.
func (b *Bridge) leave(object *schedulingv1alpha1.Reservation) {
	pod := decision.ReservePod(object, b.profile, false)
	b.scheduler.SchedulingQueue.Delete(pod)
	if profile, found := b.scheduler.Profiles[pod.Spec.SchedulerName]; found && !decision.Active(object) {
		profile.RejectWaitingPod(pod.UID)
	}
}
