package histogram

import (
	"math"
	"time"
)

const (
	// epsilon is the weight below which a bucket counts as empty.
	epsilon = 1e-4
	// maxDoublings bounds the weight of a sample against the oldest, 2^100, before all weights are scaled down.
	maxDoublings = 100
)

// Histogram counts weighted samples whose weight halves with age. It stores only the range of buckets that has been
// hit, because a pod's usage seldom spans more than a few of the two hundred there are. It is not safe for concurrent
// use.
type Histogram struct {
	buckets  Buckets
	halfLife time.Duration
	// reference is the moment at which a sample's weight is not scaled.
	reference time.Time
	// from is the bucket of weights[0].
	from    int
	weights []float64
	total   float64
}

// New returns an empty histogram. A half-life of 0 keeps all samples at their weight.
func New(buckets Buckets, halfLife time.Duration) *Histogram {
	return &Histogram{buckets: buckets, halfLife: halfLife}
}

// Add counts a sample. Values that are negative or not a number count as zero, weights that are not positive not at all.
func (h *Histogram) Add(value, weight float64, at time.Time) {
	if !(weight > 0) || math.IsInf(weight, 0) {
		return
	}
	weight *= h.growth(at)
	bucket := h.buckets.Find(value)
	h.reserve(bucket)
	h.weights[bucket-h.from] += weight
	h.total += weight
}

// Empty reports whether no sample counts any more.
func (h *Histogram) Empty() bool {
	for _, weight := range h.weights {
		if weight >= epsilon {
			return false
		}
	}
	return true
}

// Percentile returns the upper end of the bucket in which a fraction of the weight is reached; the lower end for the
// last bucket of all, which has no end, and 0 when the histogram is empty.
func (h *Histogram) Percentile(fraction float64) float64 {
	if h.Empty() {
		return 0
	}
	last := len(h.weights) - 1
	for h.weights[last] < epsilon {
		last--
	}
	threshold, sum := fraction*h.total, 0.0
	bucket := 0
	for ; bucket < last; bucket++ {
		if sum += h.weights[bucket]; sum >= threshold && h.weights[bucket] >= epsilon {
			break
		}
	}
	bucket += h.from
	if bucket < h.buckets.Count()-1 {
		bucket++
	}
	return h.buckets.Start(bucket)
}

// growth is how much more a sample counts than one at the reference time. When it would grow out of bounds, the
// reference is moved on and older samples are scaled down.
func (h *Histogram) growth(at time.Time) float64 {
	if h.halfLife <= 0 {
		return 1
	}
	if h.reference.IsZero() {
		h.reference = at
	}
	doublings := float64(at.Sub(h.reference)) / float64(h.halfLife)
	if doublings > maxDoublings {
		h.scale(math.Exp2(-math.Floor(doublings)))
		h.reference = h.reference.Add(time.Duration(math.Floor(doublings)) * h.halfLife)
		doublings -= math.Floor(doublings)
	}
	return math.Exp2(doublings)
}

func (h *Histogram) scale(factor float64) {
	h.total = 0
	for i := range h.weights {
		h.weights[i] *= factor
		h.total += h.weights[i]
	}
}

// reserve extends the stored range to include a bucket.
func (h *Histogram) reserve(bucket int) {
	const spare = 2
	switch {
	case len(h.weights) == 0:
		h.from = bucket
		h.weights = make([]float64, 1, 1+spare)
	case bucket < h.from:
		from := max(bucket-spare, 0)
		weights := make([]float64, h.from-from+len(h.weights))
		copy(weights[h.from-from:], h.weights)
		h.from, h.weights = from, weights
	case bucket >= h.from+len(h.weights):
		missing := bucket - h.from - len(h.weights) + 1
		h.weights = append(h.weights, make([]float64, missing)...)
	}
}
