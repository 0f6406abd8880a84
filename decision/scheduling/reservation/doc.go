// Package reservation decides about Reservations: which of them a pod may use, whether it fits into one, which one it gets,
// what a reservation still holds while pods use it, and when it ends.
//
// A reservation is scheduled as a reserve pod, which stands for it in the scheduler's cache and queue. Pods that use it
// carry its name and UID in an annotation. What it still holds is a function of what was reserved and of those pods alone
// (Remainder), so that a restarted scheduler comes to the same figures.
package reservation
