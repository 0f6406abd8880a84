// Package workload has the programs in the pods of a real node: they use a known amount of CPU and memory, so that
// measurements can be compared with it.
package workload
