package reservation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// Reasons of the scheduler's statuses, upstream's texts.
const (
	ReasonAffinity       = "node(s) no reservations match reservation affinity"
	ReasonUnfit          = "node(s) no reservation(s) to meet the requirements"
	ReasonNodeName       = "node(s) didn't match the nodeName specified by reservation"
	ReasonPolicyConflict = "node(s) reservation allocate policy conflict"
	ReasonInactive       = "reservation is not active"
	ReasonAllocatedOnce  = "reservation has allocateOnce enabled and has already been allocated"
	ReasonPreemption     = "node(s) preemption failed due to insufficient resources"
)

// reasonUnfitBegin stands before the reason of the last reservation that a pod does not fit into.
const reasonUnfitBegin = "Reservation(s) "

// UnfitReason is the status' text for a refusal of Fit.
func UnfitReason(refusal Refusal) string { return reasonUnfitBegin + refusal.Reason }

// IsUnfit reports whether a text is ReasonUnfit or one of UnfitReason.
func IsUnfit(text string) bool {
	return text == ReasonUnfit || strings.HasPrefix(text, reasonUnfitBegin)
}

// codes of the texts that say nothing else.
var codes = map[string]finding.Code{
	ReasonAffinity:            finding.ReservationAffinityUnmatched,
	ReasonUnfit:               finding.ReservationUnfit,
	ReasonNodeName:            finding.ReservationNodeMismatch,
	ReasonPolicyConflict:      finding.ReservationPolicyConflict,
	ReasonInactive:            finding.ReservationInactive,
	reasonUnrestricted:        finding.PreAllocationInvalid,
	reasonClusterModeDisabled: finding.PreAllocationInvalid,
}

// CodeOf returns the code of a status' text, empty for one that has none here.
func CodeOf(text string) finding.Code {
	if code, known := codes[text]; known {
		return code
	}
	if strings.HasPrefix(text, ReasonInactive+": ") {
		return finding.ReservationInactive
	}
	if short, found := strings.CutPrefix(text, reasonUnfitBegin+insufficient); found {
		if strings.HasSuffix(short, byNode) {
			return finding.ReservationNodeInsufficient
		}
		return finding.ReservationInsufficient
	}
	for _, key := range []string{extension.AnnotationReservationAffinity, extension.AnnotationExactMatchReservation} {
		if extension.NamesAnnotation(text, key) {
			return finding.ReservationWishInvalid
		}
	}
	return ""
}

// Refusal says why a pod cannot use a reservation. The zero value lets it.
type Refusal struct {
	Code finding.Code
	// Reason follows a number of reservations: "is unschedulable".
	Reason string
	// Resource that is short, empty when none is.
	Resource corev1.ResourceName
	// Requested by the pod and Free for it, in the units of Amounts, when a resource is short.
	Requested, Free int64
}

// Passed is true for the zero value.
func (r Refusal) Passed() bool { return r.Code == "" }

// Use is what the users of a reservation have of it.
type Use struct {
	// Users are the pods that carry its name.
	Users int
	// Taken is what they request of the resources that are reserved, at most what is.
	Taken Amounts
}

// Match reports whether a pod, which matches an owner, may use a reservation: by name, or by being open, tolerated, selected and of
// the same size.
func Match(demand *Demand, r *Reservation, use Use) Refusal {
	if r.Once && use.Users > 0 {
		return Refusal{Code: finding.ReservationConsumed, Reason: ReasonAllocatedOnce}
	}
	if demand.name != "" {
		if demand.name != r.Name {
			return Refusal{Code: finding.ReservationNameMismatch, Reason: "didn't match the requested reservation name"}
		}
		return Refusal{}
	}
	if r.Unschedulable {
		return Refusal{Code: finding.ReservationUnschedulable, Reason: "is unschedulable"}
	}
	if taint := demand.untolerated(r.Taints); taint != nil {
		return Refusal{Code: finding.ReservationTainted, Reason: fmt.Sprintf("had untolerated taint {%s: %s}", taint.Key, taint.Value)}
	}
	if !demand.selects(r) {
		return Refusal{Code: finding.ReservationAffinityUnmatched, Reason: "didn't match affinity rules"}
	}
	return matchExactly(demand, r)
}

// matchExactly compares the resources that must be equal; one that neither has is equal.
func matchExactly(demand *Demand, r *Reservation) Refusal {
	for _, name := range demand.exact {
		if demand.Requests[name] != r.Allocatable[name] {
			return Refusal{
				Code: finding.ReservationNotExact, Reason: "is not exact matched", Resource: name,
				Requested: demand.Requests[name], Free: r.Allocatable[name],
			}
		}
	}
	return Refusal{}
}
