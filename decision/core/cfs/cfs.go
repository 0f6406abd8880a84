package cfs

import (
	"math"
	"math/bits"
)

const (
	// Period is the length of an enforcement period in microseconds, as the kubelet sets it: cpu.cfs_period_us.
	Period int64 = 100_000
	// Unlimited is the quota of a cgroup that may use every CPU.
	Unlimited int64 = -1
	// LeastQuota in microseconds that the kernel accepts.
	LeastQuota int64 = 1_000
	// LeastShares is the smallest cpu.shares that the kernel accepts.
	LeastShares int64 = 2
	// MostShares is the largest.
	MostShares int64 = 262_144
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

// Group is the quotas of a pod and of its containers in microseconds per Period, Unlimited where there is none.
type Group struct {
	Pod        int64   `json:"pod"`
	Containers []int64 `json:"containers"`
}

// NormalizedGroup is the quotas of a pod on a node whose CPUs are worth percent of the reference, from limits in milli-cores: that
// of the pod, 0 or less for none, and those of its containers. A pod has no less than its containers together, because each of
// those is rounded up, and at least LeastQuota.
func NormalizedGroup(pod int64, containers []int64, percent int64) Group {
	normalized := func(limit int64) int64 {
		if limit <= 0 {
			return Unlimited
		}
		return max(Normalized(Quota(limit), percent), LeastQuota)
	}
	out := Group{Pod: normalized(pod), Containers: make([]int64, 0, len(containers))}
	total := int64(0)
	for _, limit := range containers {
		quota := normalized(limit)
		out.Containers = append(out.Containers, quota)
		if quota > 0 {
			total += min(quota, math.MaxInt64-total)
		}
	}
	if out.Pod > 0 {
		out.Pod = max(out.Pod, total)
	}
	return out
}
