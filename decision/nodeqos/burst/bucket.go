package burst

import (
	"time"
)

// Use of the limit in percent from which tokens are spent, and below which they are saved.
const (
	spendFrom = 100
	saveBelow = 60
)

// Bounds that keep tokens in range whatever is measured.
const (
	mostUsePercent = 100_000
	mostCapacity   = 1 << 50
)

// tokensPerPercentSecond is the precision of tokens: rounds may be shorter than a second.
const tokensPerPercentSecond = 1000

// Bucket is the tokens of one container: how long it may go on exceeding its limit. The zero value is a container that was
// not seen before. One token is a thousandth of one percent of the limit for one second.
type Bucket struct {
	Tokens    int64     `json:"tokens"`
	Capacity  int64     `json:"capacity"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// capacityOf is what a bucket holds: the whole period at the largest quota.
func capacityOf(config Config) int64 {
	over := min(max(config.QuotaBurstPercent-100, 0), mostUsePercent)
	return min(min(config.PeriodSeconds, mostCapacity/mostUsePercent/tokensPerPercentSecond)*over*tokensPerPercentSecond, mostCapacity)
}

// Step brings a bucket to a time: use of usedPercent of the limit since the last step spends tokens from 100 on, and saves
// some below 60. A bucket that is new, or whose configuration changed, begins with fill of its capacity, 0 to 1. A clock that
// was set back neither spends nor saves. It returns whether the container may go on.
func (b Bucket) Step(config Config, now time.Time, usedPercent *int64, fill float64) (Bucket, bool) {
	capacity := capacityOf(config)
	if b.UpdatedAt.IsZero() || b.Capacity != capacity {
		b = Bucket{Capacity: capacity, Tokens: int64(float64(capacity) * min(max(fill, 0), 1)), UpdatedAt: now}
		return b, b.Tokens > 0
	}
	passed := max(now.Sub(b.UpdatedAt), 0).Milliseconds()
	if usedPercent != nil && passed > 0 {
		used := min(max(*usedPercent, 0), mostUsePercent)
		// A pause longer than a bucket lasts changes no more than one that long.
		passed = min(passed, mostCapacity/mostUsePercent)
		switch {
		case used >= spendFrom:
			b.Tokens -= (used - 100) * passed
		case used < saveBelow:
			b.Tokens += (100 - used) * passed
		}
	}
	b.Tokens = max(min(b.Tokens, capacity), -capacity)
	b.UpdatedAt = now
	return b, b.Tokens > 0
}
