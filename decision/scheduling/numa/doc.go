// Package numa decides where on a node the resources of a pod come from: which NUMA zones, and which CPUs of them when the
// pod is bound to CPUs. It holds the ledger of a node's zones, makes and merges topology hints, allocates and scores.
//
// Everything in it is a pure function of its arguments; a Trace makes the same functions say how they came to their
// results.
package numa
