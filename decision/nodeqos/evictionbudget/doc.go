// Package evictionbudget decides whether the node agents of a cluster may evict one pod more. Each agent has a budget for its
// node; this one is the cluster's, so that a threshold that is wrong everywhere cannot empty all nodes at once.
package evictionbudget
