// Package trino is the tutorial in which Trino answers queries with what a service leaves, and a worker is drained in the middle of one
// when the service needs more.
package trino
