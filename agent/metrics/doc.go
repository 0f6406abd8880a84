// Package metrics turns readings of a host into usage over time: rates from counters, and averages and percentiles over
// sliding windows. Memory is bounded: every window is a ring of fixed size, and taking a sample allocates nothing while
// the set of pods stays the same.
package metrics
