// Package eventthrottle decides when lasting conditions are reported: at once, again after a while, and not all at the same time.
package eventthrottle

import (
	"time"

	"k8s.io/client-go/util/flowcontrol"
)

const (
	// Again is the time after which a lasting condition is reported again: API servers keep events for an hour.
	Again = 30 * time.Minute
	// rate is how many events may be written a second.
	rate = 1
	// Burst is how many may be written at once.
	Burst = 50
)

// Board remembers what was reported, and when. It must not be used by two goroutines at a time.
type Board[K comparable] struct {
	told    map[K]time.Time
	limiter flowcontrol.RateLimiter
}

// NewBoard returns a Board on which nothing has been reported yet.
func NewBoard[K comparable]() *Board[K] {
	return &Board[K]{told: map[K]time.Time{}, limiter: flowcontrol.NewTokenBucketRateLimiter(rate, Burst)}
}

// Due returns those of the conditions in holding that are to be reported now, in their order. Conditions that no longer hold are
// forgotten; those beyond the rate limit are due the next time.
func (b *Board[K]) Due(now time.Time, holding []K) []K {
	var due []K
	told := make(map[K]time.Time, len(holding))
	for _, condition := range holding {
		if _, twice := told[condition]; twice {
			continue
		}
		last, known := b.told[condition]
		if !known || now.Sub(last) >= Again {
			if !b.limiter.TryAccept() {
				continue
			}
			due, last = append(due, condition), now
		}
		told[condition] = last
	}
	b.told = told
	return due
}
