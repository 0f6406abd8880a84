package eviction

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Budget bounds the evictions of one node, so that a wrong threshold or a wrong measurement does not empty it. A bound of
// zero is none.
type Budget struct {
	// PerRound is how many pods one decision may take.
	PerRound int `json:"perRound,omitempty"`
	// PerWindow is how many pods may be taken within Window.
	PerWindow int           `json:"perWindow,omitempty"`
	Window    time.Duration `json:"window,omitempty"`
	// Breaker stops evictions that do not end.
	Breaker Breaker `json:"breaker,omitzero"`
	// Evicted are the times of former evictions on the node, in any order.
	Evicted []time.Time `json:"-"`
}

// Breaker opens after too many evictions, and stays open for a while: so many do not help, or their cause is elsewhere.
type Breaker struct {
	// Evictions within Window that open it; 0 never does.
	Evictions int           `json:"evictions,omitempty"`
	Window    time.Duration `json:"window,omitempty"`
	// OpenFor is how long it stays open after the last of them.
	OpenFor time.Duration `json:"openFor,omitempty"`
}

// DefaultBudget is 10 pods per round and 20 within five minutes, and opens for half an hour after 60 within half an hour.
func DefaultBudget() *Budget {
	return &Budget{
		PerRound: 10, PerWindow: 20, Window: 5 * time.Minute,
		Breaker: Breaker{Evictions: 60, Window: 30 * time.Minute, OpenFor: 30 * time.Minute},
	}
}

// Unlimited is a budget without bounds, for asking what would happen.
func Unlimited() *Budget { return &Budget{} }

// allowance is how many pods may still be taken; none for a reason.
type allowance struct {
	bounded bool
	left    int
	reason  string
}

// allowance at a time. Evictions in the future, as a clock that was set back sees them, count.
func (b *Budget) allowance(now time.Time) allowance {
	if b == nil {
		return allowance{bounded: true, reason: "no eviction budget is given"}
	}
	if until, open := b.openUntil(now); open {
		return allowance{bounded: true, reason: fmt.Sprintf("%d pods were evicted within %s: evictions stop until %s",
			b.Breaker.Evictions, b.Breaker.Window, until.UTC().Format(time.RFC3339))}
	}
	var out allowance
	if b.PerRound > 0 {
		out = allowance{bounded: true, left: b.PerRound, reason: fmt.Sprintf("at most %d pods are evicted at once", b.PerRound)}
	}
	if b.PerWindow > 0 {
		recent := 0
		for _, at := range b.Evicted {
			if now.Sub(at) < b.Window {
				recent++
			}
		}
		if left := max(b.PerWindow-recent, 0); !out.bounded || left < out.left {
			out = allowance{bounded: true, left: left, reason: fmt.Sprintf("at most %d pods are evicted within %s, and %d were", b.PerWindow, b.Window, recent)}
		}
	}
	return out
}

// Remaining is how many pods may be taken at a time, math.MaxInt without a bound, and what bounds it.
func (b *Budget) Remaining(now time.Time) (left int, reason string) {
	out := b.allowance(now)
	if !out.bounded {
		return math.MaxInt, ""
	}
	return out.left, out.reason
}

// openUntil says whether the breaker is open, and until when. It follows from the evictions alone: every eviction that is
// the last of enough within the window opens it again.
func (b *Budget) openUntil(now time.Time) (until time.Time, open bool) {
	needed := b.Breaker.Evictions
	if needed <= 0 || len(b.Evicted) < needed {
		return time.Time{}, false
	}
	times := slices.SortedFunc(slices.Values(b.Evicted), time.Time.Compare)
	for last := needed - 1; last < len(times); last++ {
		if times[last].Sub(times[last-needed+1]) <= b.Breaker.Window {
			until = times[last].Add(b.Breaker.OpenFor)
		}
	}
	return until, now.Before(until)
}

// take uses up one of the allowance; false when there is none.
func (a *allowance) take() bool {
	if !a.bounded {
		return true
	}
	if a.left <= 0 {
		return false
	}
	a.left--
	return true
}
