// Package workload is what runs in the pods of a real node: programs that use a known amount of CPU and memory, so that what is
// measured of them can be compared with what they were told to use.
package workload
