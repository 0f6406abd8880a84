package jobinsight

import (
	"math"
	"math/rand/v2"
	"time"
)

const gib = 1 << 30

var (
	noon  = time.Date(2030, time.January, 7, 12, 0, 0, 0, time.UTC)
	daily = Kind{User: "alice", Queue: "analytics", Application: "daily-report", Shape: "driver"}
)

// ended is a run of a kind that ended n minutes after noon, with a peak in GiB and a duration.
func ended(kind Kind, n int, outcome Outcome, memory float64, duration time.Duration) Run {
	return Run{Kind: kind, Outcome: outcome, Ended: noon.Add(time.Duration(n) * time.Minute), Values: Observed(memory*gib, 1, duration)}
}

// repeated is a store of n runs of a kind.
func repeated(kind Kind, n int, outcome Outcome, memory float64, duration time.Duration) *Store {
	s := NewStore(0)
	for i := range n {
		s.Observe(ended(kind, i, outcome, memory, duration))
	}
	return s
}

// spread are values around a median, whose logarithms are spread normally.
func spread(r *rand.Rand, around, sigma float64) float64 {
	return around * math.Exp(sigma*r.NormFloat64())
}

// busy is a store that has seen n runs of 40 kinds.
func busy(n int) *Store {
	r, s := rand.New(rand.NewPCG(1, 2)), NewStore(0)
	for i := range n {
		kind := Kind{User: string(rune('a' + r.IntN(4))), Queue: "q", Application: string(rune('a' + r.IntN(10))), Shape: "x"}
		outcome := []Outcome{Completed, Completed, Completed, Completed, OOMKilled, Failed}[r.IntN(6)]
		run := ended(kind, i, outcome, spread(r, 2, 0.4), time.Duration(spread(r, 600, 0.8))*time.Second)
		if r.IntN(5) == 0 {
			run.Values[CPU] = 0
		}
		s.Observe(run)
	}
	return s
}
