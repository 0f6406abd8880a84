// Package evictor evicts pods from a node that runs short. It asks the decision who is to go, goes through the Eviction API, so
// that PodDisruptionBudgets hold, and remembers what it did, so that a node is not emptied by a wrong threshold.
package evictor
