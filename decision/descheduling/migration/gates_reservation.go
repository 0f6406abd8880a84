package migration

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// passCreated creates the Reservation, or takes note of the one that is there.
func (d *decision) passCreated() result {
	const condition = schedulingv1alpha1.PodMigrationJobConditionReservationCreated
	created := holds(&d.verdict.Status, condition)
	if d.committed() && d.verdict.Status.PodRef != nil {
		return result{passed: true} // the Reservation is used, and may be gone
	}
	reservation := d.Reservation
	if reservation == nil || reservation.Terminating {
		return d.withoutReservation(created)
	}
	if ref := d.reservationRef(); created && ref != nil && ref.UID != "" && ref.UID != reservation.UID {
		return abort(schedulingv1alpha1.PodMigrationJobReasonMissingReservation, "reservation %q was deleted; the one of this name is another", reservation.Name)
	}
	if !d.named() && !reservation.Owned {
		return fail(schedulingv1alpha1.PodMigrationJobReasonFailedCreateReservation, "reservation %q exists and does not belong to the job", reservation.Name)
	}
	d.recordReference(reservation)
	d.recordPreempted(reservation)
	return d.passed(condition, "", fmt.Sprintf("reservation %q is created", reservation.Name))
}

// withoutReservation creates the Reservation, unless there was one already, or somebody else was to make it.
func (d *decision) withoutReservation(created bool) result {
	name := ReservationName(d.Job)
	switch {
	case created:
		return abort(schedulingv1alpha1.PodMigrationJobReasonMissingReservation, "reservation %q was deleted", name)
	case d.named():
		return fail(schedulingv1alpha1.PodMigrationJobReasonMissingReservation, "reservation %q does not exist", name)
	case d.Reservation != nil: // one of a former try is being deleted
		return waitFor("", "waiting for the deletion of reservation %q", name)
	}
	if paused, is := d.paused(); is {
		return paused
	}
	out := waitFor("", "creating reservation %q", name)
	out.action, out.retry = Action{Kind: CreateReservation}, d.Now.Add(actionRetry)
	return out
}

// named reports whether the job names a Reservation of somebody else.
func (d *decision) named() bool { return ReservationName(d.Job) != string(d.Job.UID) }

func (d *decision) reservationRef() *corev1.ObjectReference {
	if options := d.Job.Spec.ReservationOptions; options != nil {
		return options.ReservationRef
	}
	return nil
}

// recordReference records which Reservation the job uses.
func (d *decision) recordReference(reservation *Reservation) {
	if ref := d.reservationRef(); ref != nil && ref.Name == reservation.Name && ref.UID == reservation.UID {
		return
	}
	d.verdict.ReservationRef = &corev1.ObjectReference{
		APIVersion: schedulingv1alpha1.GroupVersion.String(), Kind: "Reservation", Name: reservation.Name, UID: reservation.UID,
	}
}

// recordPreempted takes over which pods the scheduler evicted for the Reservation. It only ever adds to them.
func (d *decision) recordPreempted(reservation *Reservation) {
	for _, pod := range reservation.Preempted {
		listed := func(ref corev1.ObjectReference) bool { return ref.UID == pod.UID }
		if !slices.ContainsFunc(d.verdict.Status.PreemptedPodsRef, listed) {
			d.verdict.Status.PreemptedPodsRef = append(d.verdict.Status.PreemptedPodsRef, *referenceTo(pod))
		}
	}
}

// passScheduled waits for a node, which must be another than that of the pod, and on which no other pod took what is reserved.
func (d *decision) passScheduled() result {
	if d.committed() && d.verdict.Status.PodRef != nil {
		return result{passed: true}
	}
	reservation := d.Reservation
	if ended := d.unusable(); ended.reason != "" {
		return ended
	}
	if !d.committed() {
		if reservation.bound() {
			return abort(schedulingv1alpha1.PodMigrationJobReasonReservationTaken, "reservation %q is used by another pod%s", reservation.Name, firstUser(reservation))
		}
		if reservation.Node == d.Pod.Node {
			return fail(schedulingv1alpha1.PodMigrationJobReasonForbiddenMigratePod, "reservation %q is on node %q, where the pod is already", reservation.Name, reservation.Node)
		}
	}
	d.verdict.Status.NodeName = reservation.Node
	if d.preempts() && Condition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobConditionPreemption) != nil {
		d.passed(schedulingv1alpha1.PodMigrationJobConditionPreemption, schedulingv1alpha1.PodMigrationJobReasonPreemptComplete, "")
	}
	return d.passed(schedulingv1alpha1.PodMigrationJobConditionReservationScheduled, "", fmt.Sprintf("reservation %q is on node %q", reservation.Name, reservation.Node))
}

// unusable says why the Reservation has no node; an empty reason when it has one and is in force.
func (d *decision) unusable() result {
	reservation := d.Reservation
	switch {
	case reservation.bound():
		return result{}
	case reservation.Phase == schedulingv1alpha1.ReservationFailed && reservation.Node != "" && d.Node == nil:
		return d.nodeLost()
	case reservation.Phase == schedulingv1alpha1.ReservationFailed:
		return fail(schedulingv1alpha1.PodMigrationJobReasonReservationExpired, "reservation %q has ended: %s", reservation.Name, reservation.Ended)
	case reservation.Node == "" && reservation.Unschedulable != "" && !d.preempts():
		return fail(schedulingv1alpha1.PodMigrationJobReasonUnschedulable, "reservation %q is unschedulable: %s", reservation.Name, reservation.Unschedulable)
	case reservation.Node == "" && reservation.Unschedulable != "":
		out := waitFor(schedulingv1alpha1.PodMigrationJobReasonPreempting, "reservation %q waits for preemption: %s", reservation.Name, reservation.Unschedulable)
		setCondition(&d.verdict.Status, schedulingv1alpha1.PodMigrationJobCondition{
			Type: schedulingv1alpha1.PodMigrationJobConditionPreemption, Status: schedulingv1alpha1.PodMigrationJobConditionStatusFalse,
			Reason: out.reason, Message: out.message,
		}, d.Now)
		return out
	case reservation.Node == "" || reservation.Phase != schedulingv1alpha1.ReservationAvailable:
		return waitFor(schedulingv1alpha1.PodMigrationJobReasonWaitForReservationScheduled, "waiting for the scheduler to find a node for reservation %q", reservation.Name)
	}
	return result{}
}

// preempts reports whether the Reservation may wait for the preemption of other pods.
func (d *decision) preempts() bool {
	return d.Job.Spec.ReservationOptions != nil && d.Job.Spec.ReservationOptions.PreemptionOptions != nil
}

func firstUser(reservation *Reservation) string {
	if len(reservation.Users) == 0 {
		return ""
	}
	return fmt.Sprintf(", %q", reservation.Users[0].Namespace+"/"+reservation.Users[0].Name)
}

// passNode waits until the node of the Reservation takes pods.
func (d *decision) passNode() result {
	switch {
	case d.committed() && (d.verdict.Status.PodRef != nil || d.Reservation.bound()):
		return result{passed: true}
	case d.Node == nil:
		return d.nodeLost()
	case d.committed():
		return result{passed: true}
	case d.Node.Unschedulable:
		return waitFor(schedulingv1alpha1.PodMigrationJobReasonNodeNotReady, "waiting: node %q is unschedulable", d.Reservation.Node)
	case !d.Node.Ready:
		return waitFor(schedulingv1alpha1.PodMigrationJobReasonNodeNotReady, "waiting: node %q is not ready", d.Reservation.Node)
	}
	return result{passed: true}
}

func (d *decision) nodeLost() result {
	return abort(schedulingv1alpha1.PodMigrationJobReasonNodeLost, "node %q of reservation %q does not exist any more", d.Reservation.Node, d.Reservation.Name)
}

// passPodScheduled waits until the scheduler binds a pod that had no node when the job started.
func (d *decision) passPodScheduled() result {
	if d.Pod == nil {
		return fail(schedulingv1alpha1.PodMigrationJobReasonMissingPod, "the pod does not exist")
	}
	if d.Pod.Node != "" {
		d.verdict.Status.NodeName = d.Pod.Node
		return d.passed(schedulingv1alpha1.PodMigrationJobConditionPodScheduled, "", fmt.Sprintf("the pod is scheduled to node %q", d.Pod.Node))
	}
	if ended := d.unusable(); ended.phase != "" {
		return ended
	}
	return waitFor(schedulingv1alpha1.PodMigrationJobReasonWaitForPodScheduled, "waiting for the scheduler to bind the pod")
}
