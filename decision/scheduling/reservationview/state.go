package reservationview

import (
	"fmt"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
)

// states in the order of their gravity.
var states = []diagnosticsv1alpha1.ReservationState{
	diagnosticsv1alpha1.ReservationMissing, diagnosticsv1alpha1.ReservationFailed, diagnosticsv1alpha1.ReservationOverused,
	diagnosticsv1alpha1.ReservationBlocked, diagnosticsv1alpha1.ReservationCordoned, diagnosticsv1alpha1.ReservationPending,
	diagnosticsv1alpha1.ReservationIdle, diagnosticsv1alpha1.ReservationUsed, diagnosticsv1alpha1.ReservationExpired,
	diagnosticsv1alpha1.ReservationSucceeded,
}

// Rank orders states by their gravity, 0 for the gravest. One that is not known comes last.
func Rank(state diagnosticsv1alpha1.ReservationState) int {
	if at := slices.Index(states, state); at >= 0 {
		return at
	}
	return len(states)
}

// IsProblem is true for a state that somebody should look at.
func IsProblem(state diagnosticsv1alpha1.ReservationState) bool {
	return Rank(state) <= Rank(diagnosticsv1alpha1.ReservationCordoned)
}

// Ended is true for a state in which a Reservation holds nothing any more.
func Ended(state diagnosticsv1alpha1.ReservationState) bool {
	switch state {
	case diagnosticsv1alpha1.ReservationFailed, diagnosticsv1alpha1.ReservationExpired, diagnosticsv1alpha1.ReservationSucceeded:
		return true
	}
	return false
}

// StateOf is the state of a Reservation, and why it is that where that has to be said.
func StateOf(r *schedulingv1alpha1.Reservation) (diagnosticsv1alpha1.ReservationState, string) {
	ready, scheduled := condition(r, schedulingv1alpha1.ReservationConditionReady), condition(r, schedulingv1alpha1.ReservationConditionScheduled)
	switch {
	case r.Status.Phase == schedulingv1alpha1.ReservationSucceeded:
		return diagnosticsv1alpha1.ReservationSucceeded, ready.Message
	case r.Status.Phase == schedulingv1alpha1.ReservationFailed && ready.Reason == schedulingv1alpha1.ReasonReservationExpired:
		return diagnosticsv1alpha1.ReservationExpired, ready.Message
	case r.Status.Phase == schedulingv1alpha1.ReservationFailed:
		return diagnosticsv1alpha1.ReservationFailed, reasonAnd(ready.Reason, ready.Message)
	case r.Status.NodeName == "" && scheduled.Reason == schedulingv1alpha1.ReasonReservationUnschedulable:
		return diagnosticsv1alpha1.ReservationBlocked, scheduled.Message
	case r.Status.Phase != schedulingv1alpha1.ReservationAvailable:
		return diagnosticsv1alpha1.ReservationPending, scheduled.Message
	}
	for _, name := range Resources(r) {
		if a := AmountOf(r, name); a.Allocated > a.Reserved {
			taken, reserved := amount.FormatPair(name, a.Allocated, a.Reserved)
			return diagnosticsv1alpha1.ReservationOverused, fmt.Sprintf("%s: pods have taken %s of %s", amount.ShortName(name), taken, reserved)
		}
	}
	switch {
	case r.Spec.Unschedulable:
		return diagnosticsv1alpha1.ReservationCordoned, "spec.unschedulable is set: no further pod may use it"
	case len(r.Status.CurrentOwners) == 0:
		return diagnosticsv1alpha1.ReservationIdle, "no pod uses what is reserved"
	}
	return diagnosticsv1alpha1.ReservationUsed, ""
}

func condition(r *schedulingv1alpha1.Reservation, of schedulingv1alpha1.ReservationConditionType) schedulingv1alpha1.ReservationCondition {
	for i := range r.Status.Conditions {
		if r.Status.Conditions[i].Type == of {
			return r.Status.Conditions[i]
		}
	}
	return schedulingv1alpha1.ReservationCondition{}
}

// reasonAnd joins a reason and a message, either of which may be empty.
func reasonAnd(reason, message string) string {
	if reason == "" || message == "" {
		return reason + message
	}
	return reason + ": " + message
}
