// Package quantity writes millicores, bytes, shares and ages as people read them.
package quantity

import (
	"strconv"
	"time"

	"koordinator.sh/koord/decision/core/freshness"
)

// None stands for a value that is not known.
const None = "-"

// Cores writes millicores as cores: 12.5 for 12500, about three significant digits.
func Cores(milli int64) string { return scaled(float64(milli) / 1000) }

var binary = []string{"B", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

// Bytes writes bytes with a binary suffix: 1.5Gi.
func Bytes(n int64) string {
	v, i := float64(n), 0
	for (v >= 1000 || v <= -1000) && i < len(binary)-1 {
		v /= 1024
		i++
	}
	return scaled(v) + binary[i]
}

func scaled(v float64) string {
	abs := max(v, -v)
	switch {
	case abs >= 99.95 || abs == float64(int64(abs)):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case abs >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case abs < 0.1:
		return strconv.FormatFloat(v, 'f', 3, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

// Share is part of whole in percent, rounded; false when there is no whole.
func Share(part, whole int64) (int64, bool) {
	if whole <= 0 {
		return 0, false
	}
	return int64(float64(part)/float64(whole)*100 + 0.5), true
}

// Percent writes part of whole as 78%, or None without a whole.
func Percent(part, whole int64) string {
	share, ok := Share(part, whole)
	if !ok {
		return None
	}
	return strconv.FormatInt(share, 10) + "%"
}

// AgeOf writes how long ago a moment was, as Age does; <future> for one that is ahead by more than a second, where a clock is
// wrong and no age can be trusted.
func AgeOf(now, at time.Time) string {
	if at.After(now.Add(time.Second)) {
		return "<future>"
	}
	return age(freshness.Seconds(now, at))
}

// Age writes a duration in its largest two units at most, kubectl's way: 45s, 12m, 3h20m, 2d.
func Age(d time.Duration) string { return age(int64(d / time.Second)) }

// AgeSeconds writes a number of seconds as Age does.
func AgeSeconds(s int64) string { return age(s) }

func age(s int64) string {
	switch {
	case s < 0:
		return "0s"
	case s < 120:
		return strconv.FormatInt(s, 10) + "s"
	case s < 2*3600:
		return strconv.FormatInt(s/60, 10) + "m"
	case s < 8*3600:
		return strconv.FormatInt(s/3600, 10) + "h" + strconv.FormatInt(s%3600/60, 10) + "m"
	case s < 48*3600:
		return strconv.FormatInt(s/3600, 10) + "h"
	default:
		return strconv.FormatInt(s/86400, 10) + "d"
	}
}

// Count writes a number of things.
func Count(n int64) string { return strconv.FormatInt(n, 10) }
