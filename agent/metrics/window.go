package metrics

import (
	"iter"
	"math"
	"slices"
	"time"
)

// MaxSamples is the largest number of samples a window keeps: an hour of one a second.
const MaxSamples = 3600

// Window keeps the latest samples of one usage. It is not safe for concurrent use.
type Window struct {
	ring []sample
	// next is the place of the sample to come; count is how many places are filled.
	next, count int
}

type sample struct {
	// at is in nanoseconds of Unix time.
	at    int64
	usage Usage
}

// NewWindow returns a window that keeps up to capacity samples, between 1 and MaxSamples.
func NewWindow(capacity int) *Window {
	return &Window{ring: make([]sample, min(max(capacity, 1), MaxSamples))}
}

// Add appends a sample; a full window forgets its oldest. A sample that is not newer than the latest is dropped. One that is older
// by more than setBack was timed by a clock that was set back: samples that lie ahead of it are forgotten, so that the window does not
// stand still until the clock is there again. An amount outside of 0..2^50 is cut to that range.
func (w *Window) Add(at time.Time, usage Usage) {
	nanos := at.UnixNano()
	if w.count > 0 && w.back(0).at-nanos > int64(setBack) {
		w.forgetFrom(nanos)
	}
	if w.count > 0 && nanos <= w.back(0).at {
		return
	}
	w.ring[w.next] = sample{at: nanos, usage: usage.bounded()}
	w.next = (w.next + 1) % len(w.ring)
	w.count = min(w.count+1, len(w.ring))
}

// setBack is by how much a sample has to be older than the latest for the clock to have been set back.
const setBack = 10 * time.Second

// forgetFrom drops the samples from a time on, in nanoseconds of Unix time.
func (w *Window) forgetFrom(nanos int64) {
	for w.count > 0 && w.back(0).at >= nanos {
		w.next = (w.next - 1 + len(w.ring)) % len(w.ring)
		w.count--
	}
}

// Average returns the mean of the samples in (at-over, at]; ok is false when there is none.
func (w *Window) Average(at time.Time, over time.Duration) (mean Usage, ok bool) {
	sum, n := w.sum(at, over)
	if n == 0 {
		return Usage{}, false
	}
	return Usage{NanoCores: sum.NanoCores / n, Memory: sum.Memory / n}, true
}

// sum of the samples in (at-over, at], and how many they are.
func (w *Window) sum(at time.Time, over time.Duration) (sum Usage, n int64) {
	for s := range w.within(at, over) {
		sum = sum.Plus(s.usage)
		n++
	}
	return sum, n
}

// Covers reports whether the samples in (at-over, at] span at least half of that time.
func (w *Window) Covers(at time.Time, over time.Duration) bool {
	var newest, oldest *sample
	for s := range w.within(at, over) {
		if newest == nil {
			newest = s
		}
		oldest = s
	}
	return newest != nil && time.Duration(newest.at-oldest.at) >= over/2
}

// Percentiles returns the nearest-rank percentiles, given in ascending order as fractions of one, of the samples in
// (at-over, at]: CPU and memory each on its own. It returns nil when there is no sample.
func (w *Window) Percentiles(at time.Time, over time.Duration, fractions ...float64) []Usage {
	var cpu, memory []int64
	for s := range w.within(at, over) {
		cpu = append(cpu, s.usage.NanoCores)
		memory = append(memory, s.usage.Memory)
	}
	if len(cpu) == 0 {
		return nil
	}
	slices.Sort(cpu)
	slices.Sort(memory)
	out := make([]Usage, len(fractions))
	for i, fraction := range fractions {
		rank := nearestRank(fraction, len(cpu))
		out[i] = Usage{NanoCores: cpu[rank], Memory: memory[rank]}
	}
	return out
}

// within yields the samples in (at-over, at], newest first.
func (w *Window) within(at time.Time, over time.Duration) iter.Seq[*sample] {
	until := at.UnixNano()
	from := until - int64(over)
	return func(yield func(*sample) bool) {
		for i := range w.count {
			s := w.back(i)
			if s.at > until {
				continue
			}
			if s.at <= from || !yield(s) {
				return
			}
		}
	}
}

// back returns the i-th newest sample.
func (w *Window) back(i int) *sample {
	return &w.ring[(w.next-1-i+2*len(w.ring))%len(w.ring)]
}

// nearestRank is the index, in n sorted values, of the smallest value that is not below a fraction of them. The tolerance
// keeps 0.95*20 from becoming the 20th value through a rounding error.
func nearestRank(fraction float64, n int) int {
	const tolerance = 1e-9
	rank := int(math.Ceil(fraction*float64(n)-tolerance)) - 1
	return min(max(rank, 0), n-1)
}
