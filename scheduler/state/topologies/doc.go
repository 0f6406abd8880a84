// Package topologies is the scheduler's shared view of CPUs and NUMA zones: what every node offers, from its labels and
// annotations and its NodeResourceTopology, and what pods hold of it.
package topologies
