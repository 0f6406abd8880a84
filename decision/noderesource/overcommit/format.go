package overcommit

import (
	"strconv"
	"strings"
	"time"
)

// formatCPU shows milli-cores as cores with at most two decimals, and less than a hundredth of a core as milli-cores.
func formatCPU(milli int64) string {
	switch {
	case milli > -10 && milli < 10 && milli != 0:
		return strconv.FormatInt(milli, 10) + "m"
	case milli == 1000:
		return "1 core"
	}
	return decimals(float64(milli)/1000, 2) + " cores"
}

// formatBytes shows bytes with a binary suffix and at most one decimal, as 77.2Gi.
func formatBytes(bytes int64) string {
	const units = "KMGTPE"
	value, unit := float64(bytes), -1
	for (value >= 1024 || value <= -1024) && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	if unit < 0 {
		return strconv.FormatInt(bytes, 10)
	}
	return decimals(value, 1) + string(units[unit]) + "i"
}

// decimals formats a value with at most so many decimals.
func decimals(value float64, places int) string {
	text := strconv.FormatFloat(value, 'f', places, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

func (k kind) format(value int64) string {
	if k.cpu {
		return formatCPU(value)
	}
	return formatBytes(value)
}

// round shows a duration to the second.
func round(d time.Duration) time.Duration { return d.Round(time.Second) }

// giga is bytes in units of 10^9, rounded up, as upstream's messages have them.
func giga(bytes int64) int64 {
	const unit = 1_000_000_000
	if bytes <= 0 {
		return bytes / unit
	}
	return (bytes-1)/unit + 1
}

// messageValue is a value in the unit of upstream's messages: milli-cores, or units of 10^9 bytes.
func (k kind) messageValue(value int64) int64 {
	if k.cpu {
		return value
	}
	return giga(value)
}
