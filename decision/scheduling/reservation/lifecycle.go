package reservation

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// DefaultTTL is the life of a Reservation that names none.
const DefaultTTL = 24 * time.Hour

// Life is what the end of a Reservation depends on.
type Life struct {
	Object *schedulingv1alpha1.Reservation
	// NodeGone is true when the node of an active Reservation does not exist.
	NodeGone bool
	// Users that are bound to the node.
	Users map[types.UID]User
	Now   time.Time
	// Collect is the age at which an ended Reservation is deleted; 0 keeps it.
	Collect time.Duration
}

// Step is what is to be done with a Reservation.
type Step struct {
	// Delete the object.
	Delete bool
	// Status to write, nil when it is right.
	Status *schedulingv1alpha1.ReservationStatus
	// After is the time until time alone changes something, 0 for never.
	After time.Duration
	// Because says why, for the log.
	Because string
}

// ExpiresAt returns the end of a Reservation: expires, or its creation and ttl; false when it has none.
func ExpiresAt(object *schedulingv1alpha1.Reservation) (time.Time, bool) {
	if object.Spec.Expires != nil {
		return object.Spec.Expires.Time, true
	}
	ttl := DefaultTTL
	if object.Spec.TTL != nil {
		ttl = object.Spec.TTL.Duration
	}
	if ttl <= 0 {
		return time.Time{}, false
	}
	return object.CreationTimestamp.Add(ttl), true
}

// Next decides what is to be done with a Reservation.
func Next(life Life) Step {
	object := life.Object
	if object.DeletionTimestamp != nil {
		return Step{}
	}
	if Terminal(object) {
		return collect(life)
	}
	expires, ends := ExpiresAt(object)
	switch {
	case life.NodeGone && Active(object):
		return life.end(schedulingv1alpha1.ReservationFailed, schedulingv1alpha1.ReasonReservationExpired, fmt.Sprintf("node %s is gone", object.Status.NodeName))
	case ends && !life.Now.Before(expires):
		return life.end(schedulingv1alpha1.ReservationFailed, schedulingv1alpha1.ReasonReservationExpired, "expired at "+expires.UTC().Format(time.RFC3339))
	case Active(object) && len(life.Users) > 0 && once(object):
		return life.end(schedulingv1alpha1.ReservationSucceeded, schedulingv1alpha1.ReasonReservationSucceeded, "allocated to its only owner")
	}
	step := Step{}
	if Active(object) {
		step = life.sync()
	}
	if ends {
		step.After = expires.Sub(life.Now)
	}
	return step
}

func once(object *schedulingv1alpha1.Reservation) bool {
	return object.Spec.AllocateOnce == nil || *object.Spec.AllocateOnce
}

// collect deletes what ended long ago.
func collect(life Life) Step {
	if life.Collect <= 0 {
		return Step{}
	}
	ended := life.Object.CreationTimestamp.Time
	for _, condition := range life.Object.Status.Conditions {
		if condition.LastTransitionTime.After(ended) {
			ended = condition.LastTransitionTime.Time
		}
	}
	if left := ended.Add(life.Collect).Sub(life.Now); left > 0 {
		return Step{After: left}
	}
	return Step{Delete: true, Because: "ended at " + ended.UTC().Format(time.RFC3339)}
}

// end closes the Reservation.
func (l Life) end(phase schedulingv1alpha1.ReservationPhase, reason, message string) Step {
	status := l.Object.Status.DeepCopy()
	l.account(status)
	status.Phase = phase
	SetCondition(status, schedulingv1alpha1.ReservationCondition{
		Type: schedulingv1alpha1.ReservationConditionReady, Status: schedulingv1alpha1.ConditionStatusFalse, Reason: reason, Message: message,
	}, l.Now)
	return Step{Status: status, After: l.Collect, Because: message}
}

// sync brings the owners and what they have up to date.
func (l Life) sync() Step {
	status := l.Object.Status.DeepCopy()
	l.account(status)
	if equality.Semantic.DeepEqual(status, &l.Object.Status) {
		return Step{}
	}
	return Step{Status: status, Because: fmt.Sprintf("%d pods use it", len(l.Users))}
}

func (l Life) account(status *schedulingv1alpha1.ReservationStatus) {
	compiled, _ := Compile(l.Object) // selectors do not matter here
	status.CurrentOwners = make([]corev1.ObjectReference, 0, len(l.Users))
	for _, user := range l.Users {
		status.CurrentOwners = append(status.CurrentOwners, corev1.ObjectReference{Namespace: user.Namespace, Name: user.Name, UID: user.UID})
	}
	slices.SortFunc(status.CurrentOwners, func(a, b corev1.ObjectReference) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	status.Allocated = UseOf(compiled, l.Users).Taken.List()
	if len(l.Users) == 0 {
		status.CurrentOwners, status.Allocated = nil, nil
	}
}

// Placed returns the status of a Reservation for which a node was found.
func Placed(object *schedulingv1alpha1.Reservation, node string, now time.Time) *schedulingv1alpha1.ReservationStatus {
	status := object.Status.DeepCopy()
	compiled, _ := Compile(object) // selectors do not matter here
	status.Phase, status.NodeName, status.Allocatable = schedulingv1alpha1.ReservationAvailable, node, compiled.Allocatable.List()
	SetCondition(status, schedulingv1alpha1.ReservationCondition{
		Type: schedulingv1alpha1.ReservationConditionScheduled, Status: schedulingv1alpha1.ConditionStatusTrue, Reason: schedulingv1alpha1.ReasonReservationScheduled,
	}, now)
	SetCondition(status, schedulingv1alpha1.ReservationCondition{
		Type: schedulingv1alpha1.ReservationConditionReady, Status: schedulingv1alpha1.ConditionStatusTrue, Reason: schedulingv1alpha1.ReasonReservationAvailable,
	}, now)
	return status
}

// Unplaced returns the status of a Reservation for which no node was found, and false when it says so already.
func Unplaced(object *schedulingv1alpha1.Reservation, message string, now time.Time) (*schedulingv1alpha1.ReservationStatus, bool) {
	status := object.Status.DeepCopy()
	status.Phase = schedulingv1alpha1.ReservationPending
	changed := SetCondition(status, schedulingv1alpha1.ReservationCondition{
		Type: schedulingv1alpha1.ReservationConditionScheduled, Status: schedulingv1alpha1.ConditionStatusFalse,
		Reason: schedulingv1alpha1.ReasonReservationUnschedulable, Message: message,
	}, now)
	return status, changed || object.Status.Phase != status.Phase
}

// ReasonPreempted closes a Reservation that gave way to a pod of higher priority.
const ReasonPreempted = "Preempted"

// Preempted returns the status of a Reservation that gives way.
func Preempted(object *schedulingv1alpha1.Reservation, message string, now time.Time) *schedulingv1alpha1.ReservationStatus {
	status := object.Status.DeepCopy()
	status.Phase = schedulingv1alpha1.ReservationFailed
	SetCondition(status, schedulingv1alpha1.ReservationCondition{
		Type: schedulingv1alpha1.ReservationConditionReady, Status: schedulingv1alpha1.ConditionStatusFalse, Reason: ReasonPreempted, Message: message,
	}, now)
	return status
}

// SetCondition puts a condition in the place of the one of its type, and reports whether it says something else. The time of the
// transition is kept while the status stays the same.
func SetCondition(status *schedulingv1alpha1.ReservationStatus, condition schedulingv1alpha1.ReservationCondition, now time.Time) bool {
	condition.LastProbeTime, condition.LastTransitionTime = metav1.NewTime(now), metav1.NewTime(now)
	for i := range status.Conditions {
		before := &status.Conditions[i]
		if before.Type != condition.Type {
			continue
		}
		if before.Status == condition.Status {
			condition.LastTransitionTime = before.LastTransitionTime
		}
		if before.Status == condition.Status && before.Reason == condition.Reason && before.Message == condition.Message {
			return false
		}
		*before = condition
		return true
	}
	status.Conditions = append(status.Conditions, condition)
	return true
}
