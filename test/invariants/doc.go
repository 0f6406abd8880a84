// Package invariants follows a cluster and checks, at every event that its API server sends, what must hold at all times:
// no node promises more than it has, no CPU and no device has two owners, no quota lends what is not there, and what is
// written on a bound pod is what the pod asked for.
//
// The checks are pure functions on a Node, a Tree, or a pod and its past. They share no code with the scheduler's
// decisions: both read the same objects, and a mistake in one is not repeated in the other. The watcher feeds them.
//
// Two kinds of facts are distinguished. What pods hold is exclusive: pods come in one stream, in the order in which the API
// server stored them, so two owners at any point of it are a violation. What there is to hold - a node's allocatable, its
// topology, its devices, a quota's max - changes while a pod is on its way to a node: it is checked when a pod is bound,
// and may be any version that was in force within Window of that.
package invariants
