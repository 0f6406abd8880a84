package interference

import (
	"math"
)

// memory of a baseline in samples: older ones fade, because a new version of a service may run differently.
const memory = 1000

// leastDeviation of a baseline, as a part of its mean: a service that ran very evenly is not disturbed by a trifle.
const leastDeviation = 0.02

// Baseline is what cycles per instruction of a service usually are. The zero value has not learned anything.
type Baseline struct {
	Mean     float64 `json:"mean"`
	Variance float64 `json:"variance"`
	// Samples learned from, at most 1000 of them count.
	Samples int `json:"samples"`
}

// Learn returns the baseline with one more sample. Samples that cannot be - zero, negative, infinite - teach nothing. Only
// samples of a calm service should be learned from.
func (b Baseline) Learn(cpi float64) Baseline {
	if !possible(cpi) {
		return b
	}
	b.Samples = min(b.Samples+1, memory)
	weight := 1 / float64(b.Samples)
	delta := cpi - b.Mean
	b.Mean += weight * delta
	b.Variance = (1 - weight) * (b.Variance + weight*delta*delta)
	return b
}

// Deviations is by how many standard deviations a sample exceeds the baseline; false while too little was learned.
func (b Baseline) Deviations(cpi float64, leastSamples int) (float64, bool) {
	if !possible(cpi) || b.Samples < max(leastSamples, 1) || !possible(b.Mean) {
		return 0, false
	}
	deviation := max(math.Sqrt(max(b.Variance, 0)), b.Mean*leastDeviation)
	return (cpi - b.Mean) / deviation, true
}

// mostCPI is more than any processor needs: a figure beyond it is a broken counter.
const mostCPI = 10_000

func possible(cpi float64) bool { return cpi > 0 && cpi < mostCPI }
