// Package objects answers from API objects alone what the scheduler would answer from its own state: which nodes refuse a
// pod, and why. It runs the checks that need no more than objects - cordon, taints, node affinity, host ports,
// requests against allocatable, load - and names those it could not run. Everything is a pure function of a snapshot.
package objects
