package cfs

import (
	"math"
	"math/bits"
)

const (
	// Period is the length of an enforcement period in microseconds, as the kubelet sets it: cpu.cfs_period_us.
	Period int64 = 100_000
	// Unlimited is the quota of who may use every CPU.
	Unlimited int64 = -1
	// LeastQuota in microseconds that the kernel accepts.
	LeastQuota int64 = 1_000
	// LeastShares and MostShares bound cpu.shares.
	LeastShares int64 = 2
	MostShares  int64 = 262_144
)

// sharesPerCPU is the weight of one CPU.
const sharesPerCPU = 1024

// quotaPerMilli is the microseconds in a period that one thousandth of a CPU is.
const quotaPerMilli = 100

// Quota of milli-cores in microseconds per Period, without a lower bound. Negative amounts count as zero; a quota beyond the
// range of int64 stays at its end.
func Quota(milli int64) int64 {
	if milli > math.MaxInt64/quotaPerMilli {
		return math.MaxInt64
	}
	return max(milli, 0) * quotaPerMilli
}

// Milli is the milli-cores of a quota, rounded down; 0 for Unlimited and every other quota that is not positive.
func Milli(quota int64) int64 { return max(quota, 0) / quotaPerMilli }

// Shares of milli-cores, rounded down, between LeastShares and MostShares.
func Shares(milli int64) int64 {
	if milli >= MostShares {
		return MostShares
	}
	return min(max(milli*sharesPerCPU/1000, LeastShares), MostShares)
}

// Normalized is a quota on a node whose CPUs are worth percent of the reference, rounded up: 120 means that one CPU does the
// work of 1.2, so 1/1.2 of the time is enough. Quotas that do not limit, and percentages of 100 and less, leave it as it is.
func Normalized(quota, percent int64) int64 {
	if quota <= 0 || percent <= 100 {
		return quota
	}
	high, low := bits.Mul64(uint64(quota), 100)
	// The quotient fits, because percent is above 100: it is below quota.
	quotient, rest := bits.Div64(high, low, uint64(percent))
	if rest > 0 {
		quotient++
	}
	return int64(quotient)
}
