// Package reservation is the scheduler plugin Reservation: pods use room that was reserved for them, and Reservations find
// their nodes. The decisions are those of decision/scheduling/reservation, what is known of Reservations is in
// scheduler/state/reservations.
//
// For a pod that may use reservations, PreFilter nominates at most one on each node and shows that node to all plugins without
// its reserve pod. What is left of every other reservation stays where it is, so that all plugins judge exactly what
// the node would look like.
package reservation
