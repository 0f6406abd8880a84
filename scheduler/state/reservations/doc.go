// Package reservations is what a scheduler knows of Reservations: which hold room, who uses them, and what is left of each.
//
// Whoever uses a reservation says so in its annotation, or was told so by Assume a moment ago; there is no other record. What a
// reservation still holds is derived from those pods (decision/scheduling/reservation.Remainder) whenever one of them changes, and shown
// to the scheduler's cache in the same moment, so that every plugin counts it as it counts pods.
package reservations
