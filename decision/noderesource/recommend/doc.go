// Package recommend says what a workload's containers should request, by what they used. It learns usage in decaying
// histograms, one for CPU and one for memory a container name, and derives a lower bound, a target and an upper bound as the
// Vertical Pod Autoscaler does: percentiles with a margin, the bounds the wider the less was seen. A container that ran out
// of memory gets more at once. Resizes plans which running pods to bring to the target, within a budget and with a
// cool-down. Everything here is a pure function of its inputs or a value with one owner; nothing is safe for concurrent use.
package recommend
