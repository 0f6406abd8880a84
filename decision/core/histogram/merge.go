package histogram

import (
	"fmt"
	"math"
)

// Merge adds all samples of another histogram with the same number of buckets and the same half-life, as if they had been
// added here. The other one stays as it is. The order in which histograms are merged does not matter beyond rounding.
func (h *Histogram) Merge(other *Histogram) error {
	if h.buckets.Count() != other.buckets.Count() || h.halfLife != other.halfLife {
		return fmt.Errorf("merge histogram of %d buckets and half-life %s into one of %d and %s: they are of different kinds",
			other.buckets.Count(), other.halfLife, h.buckets.Count(), h.halfLife)
	}
	if len(other.weights) == 0 {
		return nil
	}
	factor := 1.0
	if h.halfLife > 0 {
		if h.reference.IsZero() {
			h.reference = other.reference
		}
		if other.reference.After(h.reference) {
			// The later reference stays, so that no weight grows out of bounds.
			h.scale(h.decay(other))
			h.reference = other.reference
		} else {
			factor = other.decay(h)
		}
	}
	weights, from := other.weights, other.from
	h.reserve(from)
	h.reserve(from + len(weights) - 1)
	for i, weight := range weights {
		h.weights[from+i-h.from] += weight * factor
		h.total += weight * factor
	}
	return nil
}

// decay is how much the weights of h shrink when they are rebased to the reference of a later histogram.
func (h *Histogram) decay(later *Histogram) float64 {
	return math.Exp2(-float64(later.reference.Sub(h.reference)) / float64(h.halfLife))
}
