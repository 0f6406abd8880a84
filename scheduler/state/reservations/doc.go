// Package reservations is what a scheduler knows of Reservations: which hold room, who uses them, and what is left of each.
//
// A pod uses a reservation if its annotation says so, or if Assume was called for it a moment ago; there is no other record. What a
// reservation still holds is derived from those pods (decision/scheduling/reservation.Remainder) whenever one of them changes, and
// passed to the scheduler's cache at the same time, so that every plugin counts it as it counts pods.
package reservations
