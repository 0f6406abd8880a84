// Package reservationview says how Reservations fare: the state of each in a word, what it holds and has left, which pods may use it and
// which do. It reads what koord-scheduler published, and the pods.
package reservationview
