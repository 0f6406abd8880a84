// Package state holds what scheduler plugins know of the cluster beyond the scheduler's own cache: the NodeMetric of
// each node and the pods assigned to it with the time they were. There is one Cluster in a scheduler; all profiles, and
// the explanations, read it.
package state
