package invariants

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// uses reports whether a pod was given room of a reservation.
func uses(pod *corev1.Pod, reservation *schedulingv1alpha1.Reservation) bool {
	return usedBy(pod) == reservation.UID
}

// usedBy is the reservation that a pod was given room of, empty when none.
func usedBy(pod *corev1.Pod) types.UID {
	allocated, err := extension.GetReservationAllocated(pod.Annotations)
	if err != nil || allocated == nil {
		return ""
	}
	return allocated.UID
}

// ReservationsWithinAllocated checks the reservations of a node against the pods that use them. What an owner takes beyond
// an Aligned reservation comes from the node; a Restricted one gives no more than it holds, and one that allocates once has
// one owner.
func (n *Node) ReservationsWithinAllocated() []Violation {
	out := n.found(ReservationWithinAllocated)
	for _, reservation := range n.Reservations {
		out.list = append(out.list, UsedOnce(reservation, n.Pods)...)
		sum := amounts{}
		for _, pod := range n.Pods {
			if uses(pod, reservation) {
				sum.add(requestsOf(pod))
			}
		}
		if reservation.Spec.AllocatePolicy != schedulingv1alpha1.ReservationAllocatePolicyRestricted {
			continue
		}
		for name, limit := range reservation.Status.Allocatable {
			if sum.exceeds(name, limit) {
				out.add("owners took %s of %s from reservation %s, which holds %s", sum.text(name), name, reservation.Name, limit.String())
			}
		}
	}
	return out.sorted()
}

// UsedOnce checks that a reservation that allocates once has at most one of the pods that hold something as its owner, also
// when it has ended since.
func UsedOnce(reservation *schedulingv1alpha1.Reservation, pods []*corev1.Pod) []Violation {
	if !extension.IsReservationAllocateOnce(reservation) {
		return nil
	}
	out := &found{invariant: ReservationWithinAllocated, subject: "reservation " + reservation.Name}
	var owners []*corev1.Pod
	for _, pod := range pods {
		if occupies(pod) && uses(pod, reservation) {
			owners = append(owners, pod)
		}
	}
	if len(owners) > 1 {
		out.add("it allocates once and is used by %s", holders(owners))
	}
	return out.list
}

// MayUse checks that a pod that was given room of a reservation is one of its owners and on its node, and that the
// reservation holds room.
func MayUse(pod *corev1.Pod, reservation *schedulingv1alpha1.Reservation) []Violation {
	out := &found{invariant: ReservationWithinAllocated, subject: "reservation " + reservation.Name}
	if reservation.Status.NodeName != pod.Spec.NodeName {
		out.add("%s uses it on node %s, it is on node %q", nameOf(pod), pod.Spec.NodeName, reservation.Status.NodeName)
	}
	if phase := reservation.Status.Phase; phase != schedulingv1alpha1.ReservationAvailable && phase != schedulingv1alpha1.ReservationWaiting {
		out.add("%s uses it, it is %s", nameOf(pod), phase)
	}
	if !slices.ContainsFunc(reservation.Spec.Owners, func(owner schedulingv1alpha1.ReservationOwner) bool { return owns(pod, owner) }) {
		out.add("%s uses it and is none of its owners", nameOf(pod))
	}
	return out.list
}

// owns compares a pod with one entry of the owners: all of its fields must match.
func owns(pod *corev1.Pod, owner schedulingv1alpha1.ReservationOwner) bool {
	if object := owner.Object; object != nil {
		for _, pair := range [][2]string{{object.Namespace, pod.Namespace}, {object.Name, pod.Name}, {string(object.UID), string(pod.UID)}} {
			if pair[0] != "" && pair[0] != pair[1] {
				return false
			}
		}
	}
	if controller := owner.Controller; controller != nil {
		of := metav1.GetControllerOf(pod)
		if of == nil || controller.Namespace != "" && controller.Namespace != pod.Namespace ||
			controller.Name != "" && controller.Name != of.Name || controller.Kind != "" && controller.Kind != of.Kind ||
			controller.UID != "" && controller.UID != of.UID {
			return false
		}
	}
	if owner.LabelSelector != nil {
		selector, err := metav1.LabelSelectorAsSelector(owner.LabelSelector)
		if err != nil || !selector.Matches(labels.Set(pod.Labels)) {
			return false
		}
	}
	return owner.Object != nil || owner.Controller != nil || owner.LabelSelector != nil
}
