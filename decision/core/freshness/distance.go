package freshness

import (
	"strconv"
	"time"
)

const (
	secondsPerYear = 365 * 24 * 60 * 60
	// longest is how many seconds apart two times may be for a Duration to hold it: 292 years. Objects hold times of the year 9999.
	longest = int64(1<<63-1) / int64(time.Second)
)

// Seconds is how many seconds ago a moment was, negative for one that is ahead; beyond the 292 years of a Duration, too.
func Seconds(now, at time.Time) int64 {
	if apart := now.Unix() - at.Unix(); apart >= longest || apart <= -longest {
		return apart
	}
	return int64(now.Sub(at) / time.Second)
}

// Distance says how far apart two moments are, whichever is the later, rounded to a unit: 1h0m0s. What no Duration can hold is
// said in years: 7973y.
func Distance(a, b time.Time, unit time.Duration) string {
	apart := Seconds(a, b)
	if apart < 0 {
		a, b, apart = b, a, -apart
	}
	if apart >= longest {
		return strconv.FormatInt(apart/secondsPerYear, 10) + "y"
	}
	return a.Sub(b).Round(unit).String()
}

// Ago says when a moment was: "5s ago", or "at a time 1h0m0s ahead of the clock" for one more than a second in the future, which has
// no age.
func Ago(now, at time.Time) string {
	switch {
	case at.After(now.Add(time.Second)):
		return "at a time " + Distance(now, at, time.Second) + " ahead of the clock"
	case at.After(now):
		return "0s ago"
	}
	return Distance(now, at, time.Second) + " ago"
}
