package workload

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// sink keeps the compiler from leaving work out.
var sink atomic.Uint64

// work is some microseconds of arithmetic.
func work() {
	x := sink.Load() | 1
	for range 2000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink.Store(x)
}

// latencies of the requests since they were last taken. Its methods are safe for concurrent use.
type latencies struct {
	mu   sync.Mutex
	seen []time.Duration
}

func (l *latencies) add(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, took)
}

// take forgets them and says what they were.
func (l *latencies) take() Summary {
	l.mu.Lock()
	seen := l.seen
	l.seen = nil
	l.mu.Unlock()
	return Summarize(seen)
}

// Summary is how long requests took.
type Summary struct {
	Requests      int
	P50, P99, Max time.Duration
}

// Summarize returns the summary of latencies, which it sorts. A percentile is the smallest latency that so many percent of the
// requests did not exceed.
func Summarize(latencies []time.Duration) Summary {
	slices.Sort(latencies)
	n := len(latencies)
	if n == 0 {
		return Summary{}
	}
	at := func(percent int) time.Duration { return latencies[(n*percent+99)/100-1] }
	return Summary{Requests: n, P50: at(50), P99: at(99), Max: latencies[n-1]}
}

// String is one line.
func (s Summary) String() string {
	return fmt.Sprintf("requests %d p50 %s p99 %s max %s", s.Requests, s.P50, s.P99, s.Max)
}
