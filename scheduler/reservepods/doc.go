// Package reservepods brings Reservations into a scheduler that knows only pods: reserve pods wait in its queue, those that are
// placed stand in its cache, a failed attempt is written to the Reservation, and Reservations end when they are due.
package reservepods
