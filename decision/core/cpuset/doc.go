// Package cpuset decides which logical CPUs of a node a pod is bound to. It holds the set of CPUs as a value, the topology
// of cores, NUMA nodes and sockets, and the one function that takes CPUs out of what is free.
package cpuset
