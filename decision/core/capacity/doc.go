// Package capacity is the one value type for how much cpu and memory a node has: as built, as the kubelet offers it, as
// amplification shows it, and what its cpu is worth after normalisation. Nothing else multiplies these ratios.
package capacity
