package recommend

import (
	"math"
	"time"

	"koordinator.sh/koord/decision/core/histogram"
)

const (
	// HalfLife of what was learned, as the Vertical Pod Autoscaler's.
	HalfLife = 24 * time.Hour
	// longestSample bounds what a single sample stands for, so that one after a long silence does not outweigh the rest.
	longestSample = 5 * time.Minute
	// oomFactor and oomExtra are by how much memory grows when it ran out; the larger counts.
	oomFactor = 1.2
	oomExtra  = 100 << 20
)

// Container is what was learned about the containers of one name in all pods of a workload.
type Container struct {
	// CPU in cores and Memory in bytes.
	CPU, Memory *histogram.Histogram
	// First and Last are the times of the first and the latest sample; zero before the first.
	First, Last time.Time
	// Minutes is how long containers were observed, all of them together.
	Minutes float64
	// OOM is when a container last ran out of memory, and OOMBytes what is enough since then; zero when none did.
	OOM      time.Time
	OOMBytes float64
	// Job is what former runs say of the next one, by which the container is then recommended; nil for one that is no job.
	Job *Job
}

// NewContainer returns one about which nothing is known.
func NewContainer() *Container {
	return &Container{CPU: histogram.New(histogram.CPU(), HalfLife), Memory: histogram.New(histogram.Memory(), HalfLife)}
}

// AddUsage learns that a container used so many cores and bytes for some time, at most 5 minutes of which count. Values that
// are no amounts are ignored.
func (c *Container) AddUsage(at time.Time, cores, bytes float64, stands time.Duration) {
	minutes := min(stands, longestSample).Minutes()
	if !amount(cores) || !amount(bytes) || minutes <= 0 {
		return
	}
	c.CPU.Add(cores, minutes, at)
	c.Memory.Add(bytes, minutes, at)
	c.Minutes += minutes
	if c.First.IsZero() || at.Before(c.First) {
		c.First = at
	}
	if at.After(c.Last) {
		c.Last = at
	}
}

// AddOOM learns that a container ran out of memory when it had so many bytes: from then on it needs a fifth or 100 MiB more.
// It reports whether that was news; an event that is not later than the last one known is not.
func (c *Container) AddOOM(at time.Time, bytes float64) bool {
	if !amount(bytes) || !at.After(c.OOM) {
		return false
	}
	enough := max(bytes*oomFactor, bytes+oomExtra)
	// A second one within the same memory does not forget what the first one asked for.
	c.OOMBytes = max(enough, c.oomFloor(at))
	c.OOM = at
	return true
}

// oomFloor is the memory that containers need at least because they ran out of it. After a day it halves every day, so that
// what was really used since counts in the end.
func (c *Container) oomFloor(at time.Time) float64 {
	if c.OOM.IsZero() {
		return 0
	}
	age := max(at.Sub(c.OOM)-HalfLife, 0)
	return c.OOMBytes * math.Exp2(-float64(age)/float64(HalfLife))
}

func amount(value float64) bool { return value >= 0 && !math.IsInf(value, 0) }
