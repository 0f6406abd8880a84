package overcommit

import (
	"fmt"
	"strconv"
	"time"
)

// formatCPU shows milli-cores as cores, with as many decimals as there are.
func formatCPU(milli int64) string {
	return strconv.FormatFloat(float64(milli)/1000, 'f', -1, 64) + " cores"
}

// formatBytes shows bytes in binary units with one decimal.
func formatBytes(bytes int64) string {
	const units = "KMGTPE"
	value, unit := float64(bytes), -1
	for (value >= 1024 || value <= -1024) && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	if unit < 0 {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %ciB", value, units[unit])
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
