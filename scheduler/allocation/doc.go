// Package allocation derives what the pods of a node hold of it (CPUs, NUMA zones, devices) from the node itself: a ledger
// is built from the pods of a NodeInfo, so a NodeInfo with pods added or removed - in preemption, in an explanation, for
// a nominated pod - has its right ledger without a second bookkeeping, and a restarted scheduler has the same as before.
package allocation
