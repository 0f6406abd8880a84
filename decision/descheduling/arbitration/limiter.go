package arbitration

import "time"

// ask says how many evictions there were within the duration, with those that are coming, and how long the next one has to wait at
// least; 0 when it need not. Two rules hold: no window of the duration has more than most evictions, or burst where that is more; and a
// bucket of burst tokens, of which one comes back every duration/most, has one left. Past evictions are in the order of time.
func (l *ObjectLimiter) ask(now time.Time, past []time.Time, coming, most int) (used int, wait time.Duration) {
	if most <= 0 {
		return len(past) + coming, l.Duration
	}
	var within []time.Time
	for _, at := range past {
		if at.Add(l.Duration).After(now) {
			within = append(within, at)
		}
	}
	used = len(within) + coming
	burst := max(l.Burst, 1)
	if over := used + 1 - max(most, burst); over > 0 {
		wait = l.Duration
		if over <= len(within) {
			wait = within[over-1].Add(l.Duration).Sub(now)
		}
	}
	return used, max(wait, l.bucket(now, past, coming, burst, most))
}

// bucket replays the token bucket over the past, and says when the next token is there. What is coming takes its tokens now.
func (l *ObjectLimiter) bucket(now time.Time, past []time.Time, coming, burst, most int) time.Duration {
	// The level is measured in time: a token is worth the interval in which it comes back.
	interval := max(l.Duration/time.Duration(most), 1)
	size := interval * time.Duration(burst)
	if size/interval != time.Duration(burst) || size < 0 {
		return 0 // more tokens than can be used
	}
	level, last := size, time.Time{}
	refill := func(at time.Time) {
		if elapsed := at.Sub(last); last.IsZero() || elapsed >= size {
			level = size
		} else if elapsed > 0 {
			level = min(size, level+elapsed)
		}
		last = at
	}
	for _, at := range past {
		refill(at)
		level = max(level-interval, 0)
	}
	refill(now)
	switch needed := coming + 1; {
	case needed > burst: // those that are coming have to take theirs first
		return interval
	case level < interval*time.Duration(needed):
		return interval*time.Duration(needed) - level
	}
	return 0
}
