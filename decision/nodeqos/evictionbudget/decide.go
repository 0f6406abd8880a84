package evictionbudget

import (
	"slices"
	"time"
)

const (
	// Window is the time that evictions are counted over.
	Window = 10 * time.Minute
	// DefaultPercent of the co-located pods may be evicted within Window.
	DefaultPercent = 10
	// Least is how many pods may be evicted within Window, however few there are: small clusters need room, too.
	Least = 20
	// granularity is how exactly times are remembered; it bounds what is remembered to 61 counts.
	granularity = 10 * time.Second
	// maxCount keeps sums of counts that somebody wrote by hand from overflowing.
	maxCount = 1 << 30
)

// Verdict is a decision with what it was made of.
type Verdict struct {
	Allowed bool
	// Used is how many pods were evicted within Window, without the one that was asked for, and Limit how many may be; 0 where nothing
	// is bounded.
	Used, Limit int
	// Evicted are the evictions to remember, with the one that was asked for where it is allowed; the oldest first.
	Evicted []Count
}

// Decide answers whether one pod more may be evicted.
func Decide(in Input) Verdict {
	var v Verdict
	v.Evicted = recent(in.Evicted, in.Now)
	for _, c := range v.Evicted {
		v.Used += c.Count
	}
	if in.Percent >= 0 && in.Percent < 100 {
		v.Limit = max(Least, (max(in.Pods, 0)+v.Used)*in.Percent/100)
	}
	if v.Allowed = v.Limit == 0 || v.Used < v.Limit; v.Allowed {
		v.Evicted = add(v.Evicted, in.Now.Truncate(granularity))
	}
	return v
}

// recent are the counts within the window, in the order of time.
func recent(counts []Count, now time.Time) []Count {
	var out []Count
	for _, c := range counts {
		if c.At.After(now) {
			c.At = now.Truncate(granularity)
		}
		c.Count = min(c.Count, maxCount)
		if c.Count > 0 && now.Sub(c.At) < Window {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Count) int { return a.At.Compare(b.At) })
	return out
}

func add(counts []Count, at time.Time) []Count {
	if last := len(counts) - 1; last >= 0 && !counts[last].At.Before(at) {
		counts[last].Count++
		return counts
	}
	return append(counts, Count{At: at, Count: 1})
}
