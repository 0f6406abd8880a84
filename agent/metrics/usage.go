package metrics

import (
	"time"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/decision/core/podrequest"
)

// maxAmount bounds a sample, so that a full window can be added up without overflow: a million CPUs, or a pebibyte.
const maxAmount = 1 << 50

// Usage is how much was used: at one moment, on average, or as a percentile.
type Usage struct {
	// NanoCores counts billionths of a CPU.
	NanoCores int64
	// Memory counts bytes.
	Memory int64
}

// Throttling is what a CPU quota did between two readings.
type Throttling struct {
	// Ratio of the periods that were throttled to those in which anything ran, 0 to 1.
	Ratio float64
	// Periods in which anything ran.
	Periods int64
}

// Pressure is how much of the time tasks waited between two readings, 0 to 1 each.
type Pressure struct {
	// From and To bound the time that it was measured over.
	From, To        time.Time
	CPU, Memory, IO Stall
}

// Stall is the share of the time in which some of the tasks waited, and in which all did.
type Stall struct {
	Some, Full float64
}

// BlockIO is what went to and came from block devices per second.
type BlockIO struct {
	ReadBytes, WrittenBytes, Reads, Writes float64
}

// Amount returns the usage in thousandths of a CPU, rounded up, and bytes.
func (u Usage) Amount() podrequest.Amount {
	return podrequest.Amount{MilliCPU: (u.NanoCores + 999_999) / 1_000_000, Memory: u.Memory}
}

// less subtracts, and stops at zero.
func (u Usage) less(other Usage) Usage {
	return Usage{NanoCores: max(u.NanoCores-other.NanoCores, 0), Memory: max(u.Memory-other.Memory, 0)}
}

// Plus adds.
func (u Usage) Plus(other Usage) Usage {
	return Usage{NanoCores: u.NanoCores + other.NanoCores, Memory: u.Memory + other.Memory}
}

func (u Usage) bounded() Usage {
	return Usage{NanoCores: min(max(u.NanoCores, 0), maxAmount), Memory: min(max(u.Memory, 0), maxAmount)}
}

// rate is the CPU time used between two readings, in billionths of a CPU, at most maxAmount. A counter that went backwards was reset.
func rate(before, after, elapsed time.Duration) int64 {
	if elapsed <= 0 {
		return 0
	}
	used := after - before
	if used < 0 {
		used = max(after, 0)
	}
	return int64(min(float64(used)/float64(elapsed)*1e9, maxAmount))
}

// throttling between two readings; counters that went backwards were reset.
func throttling(before, after host.Throttling) Throttling {
	if after.Periods < before.Periods || after.Throttled < before.Throttled {
		before = host.Throttling{}
	}
	out := Throttling{Periods: after.Periods - before.Periods}
	if out.Periods > 0 {
		out.Ratio = min(float64(after.Throttled-before.Throttled)/float64(out.Periods), 1)
	}
	return out
}

// pressure between two readings, the first of which must have been taken before the second.
func pressure(before, after host.Pressure) Pressure {
	over := after.At.Sub(before.At)
	stall := func(before, after host.Stall) Stall {
		return Stall{Some: share(before.Some, after.Some, over), Full: share(before.Full, after.Full, over)}
	}
	return Pressure{
		From: before.At, To: after.At,
		CPU: stall(before.CPU, after.CPU), Memory: stall(before.Memory, after.Memory), IO: stall(before.IO, after.IO),
	}
}

// share of some time, 0 to 1; a counter that went backwards was reset.
func share(before, after, over time.Duration) float64 {
	if over <= 0 {
		return 0
	}
	if after < before {
		before = 0
	}
	return min(max(float64(after-before)/float64(over), 0), 1)
}

// blockIO between two readings.
func blockIO(before, after host.BlockIO) BlockIO {
	over := after.At.Sub(before.At)
	return BlockIO{
		ReadBytes: perSecond(before.ReadBytes, after.ReadBytes, over), WrittenBytes: perSecond(before.WrittenBytes, after.WrittenBytes, over),
		Reads: perSecond(before.Reads, after.Reads, over), Writes: perSecond(before.Writes, after.Writes, over),
	}
}

func perSecond(before, after int64, over time.Duration) float64 {
	if over <= 0 {
		return 0
	}
	if after < before {
		before = 0
	}
	return max(float64(after-before)/over.Seconds(), 0)
}
