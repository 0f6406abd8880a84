package reservation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
)

// Room is what a node has for a pod that uses one reservation.
type Room struct {
	// Allocatable of the node.
	Allocatable Amounts
	// Requested by all pods of the node, reserve pods included.
	Requested Amounts
	// Held by the reserve pod of this reservation, which is part of Requested.
	Held Amounts
}

// Ignore names resources that are not reserved, whatever a reservation says.
type Ignore struct {
	Resources map[corev1.ResourceName]bool
	// Groups are domains: "example.com" ignores "example.com/foo".
	Groups map[string]bool
}

func (i *Ignore) has(name corev1.ResourceName) bool {
	if i == nil {
		return false
	}
	group, _, qualified := strings.Cut(string(name), "/")
	return i.Resources[name] || qualified && i.Groups[group]
}

// Left is what a reservation has left for new users. Nothing is less than zero.
func (r *Reservation) Left(use Use) Amounts {
	left := make(Amounts, len(r.Allocatable))
	for name, held := range r.Allocatable {
		left[name] = max(held-use.Taken[name], 0)
	}
	return left
}

// insufficient begins the reasons of Fit, and byNode ends those that are about the node.
const (
	insufficient = "Insufficient "
	byNode       = " by node"
)

// Fit reports whether a pod fits on the node by using a reservation: restricted resources must be left in the reservation;
// everything else may come from the node beyond it.
func Fit(demand *Demand, r *Reservation, use Use, room Room, ignore *Ignore) Refusal {
	for _, name := range demand.names() {
		if ignore.has(name) {
			continue
		}
		wanted := demand.Requests[name]
		if r.Restricted[name] {
			if left := max(r.Allocatable[name]-use.Taken[name], 0); wanted > left {
				return Refusal{Code: finding.ReservationInsufficient, Reason: insufficient + string(name), Resource: name, Requested: wanted, Free: left}
			}
		}
		if free := room.Allocatable[name] - room.Requested[name] + room.Held[name]; wanted > free {
			return Refusal{Code: finding.ReservationNodeInsufficient, Reason: insufficient + string(name) + byNode, Resource: name, Requested: wanted, Free: max(free, 0)}
		}
	}
	return Refusal{}
}

// Conflicts reports whether a new reservation may not be on a node with another one, because one of them has the deprecated
// default policy and the other has not.
func Conflicts(a, b *Reservation) bool { return (a.Policy == "") != (b.Policy == "") }
