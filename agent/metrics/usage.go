package metrics

import "koordinator.sh/koord/decision/podrequest"

// maxAmount bounds a sample, so that a full window can be added up without overflow: a million CPUs, or a pebibyte.
const maxAmount = 1 << 50

// Usage is how much was used: at one moment, on average, or as a percentile.
type Usage struct {
	// NanoCores counts billionths of a CPU.
	NanoCores int64
	// Memory counts bytes.
	Memory int64
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
