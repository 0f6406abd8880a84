package invariants

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// uses reports whether a pod was given room of a reservation.
func uses(pod *corev1.Pod, reservation *schedulingv1alpha1.Reservation) bool {
	allocated, err := extension.GetReservationAllocated(pod.Annotations)
	return err == nil && allocated != nil && allocated.UID == reservation.UID
}

// ReservationsWithinAllocated checks the reservations of a node against the pods that use them. What an owner takes beyond
// an Aligned reservation comes from the node; a Restricted one gives no more than it holds, and one that allocates once
// has one owner.
func (n *Node) ReservationsWithinAllocated() []Violation {
	out := n.found(ReservationWithinAllocated)
	for _, reservation := range n.Reservations {
		var owners []*corev1.Pod
		sum := amounts{}
		for _, pod := range n.Pods {
			if uses(pod, reservation) {
				owners = append(owners, pod)
				sum.add(requestsOf(pod))
			}
		}
		if len(owners) > 1 && extension.IsReservationAllocateOnce(reservation) {
			out.add("reservation %s allocates once and is used by %s", reservation.Name, holders(owners))
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
