// Package perf counts the cycles and the instructions of a cgroup's processes by the performance counters of the processor.
package perf
