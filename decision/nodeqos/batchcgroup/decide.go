package batchcgroup

import (
	"koordinator.sh/koord/decision/core/cfs"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Unlimited is the quota and the memory limit of what is not bounded.
const Unlimited int64 = -1

// Bounds of one group of processes.
type Bounds struct {
	// Shares is cpu.shares.
	Shares int64 `json:"shares"`
	// Quota is cpu.cfs_quota_us per 100 ms; -1 for none.
	Quota int64 `json:"quota"`
	// Memory is memory.limit_in_bytes; -1 for none.
	Memory int64 `json:"memory"`
	// Operands that they follow from.
	Operands Operands `json:"operands"`
}

// Operands of the bounds of one group.
type Operands struct {
	RequestMilli int64 `json:"requestMilli"`
	LimitMilli   int64 `json:"limitMilli"`
	LimitMemory  int64 `json:"limitMemory"`
	// BaseQuota is the quota before normalization, 0 where there is none.
	BaseQuota            int64 `json:"baseQuota,omitempty"`
	NormalizationPercent int64 `json:"normalizationPercent,omitempty"`
	// QuotaNote and MemoryNote say why there is no bound; empty when there is.
	QuotaNote  string `json:"quotaNote,omitempty"`
	MemoryNote string `json:"memoryNote,omitempty"`
}

// Result is the bounds of a pod and its containers.
type Result struct {
	Pod        Bounds            `json:"pod"`
	Containers []ContainerBounds `json:"containers"`
}

// ContainerBounds are the bounds of one container.
type ContainerBounds struct {
	Name string `json:"name"`
	Bounds
}

// Notes on what is not bounded.
const (
	noteNoLimit     = "there is no limit"
	noteContainers  = "not every container has a limit"
	noteSuppression = "suppression bounds all best-effort pods with one quota"
)

// BoundsOf computes the bounds of a pod and its containers. The pod's are the sums of its containers', with the overhead of
// its sandbox.
func BoundsOf(in Input) Result {
	var out Result
	request, limit := in.Overhead, in.Overhead
	boundedCPU, boundedMemory := len(in.Containers) > 0, len(in.Containers) > 0
	for _, container := range in.Containers {
		bounds := in.bound(container.Requests, container.Limits, noteNoLimit)
		out.Containers = append(out.Containers, ContainerBounds{Name: container.Name, Bounds: bounds})
		request, limit = request.Add(container.Requests), limit.Add(container.Limits)
		boundedCPU = boundedCPU && container.Limits.MilliCPU > 0
		boundedMemory = boundedMemory && container.Limits.Memory > 0
	}
	if !boundedCPU {
		limit.MilliCPU = 0
	}
	if !boundedMemory {
		limit.Memory = 0
	}
	out.Pod = in.bound(request, limit, noteContainers)
	out.Pod.coverContainers(out.Containers)
	return out
}

// coverContainers raises the pod's quota to the sum of its containers': each of those was rounded up on its own, and a small
// one raised to the least the kernel accepts.
func (b *Bounds) coverContainers(containers []ContainerBounds) {
	total := int64(0)
	for _, container := range containers {
		total = waterfall.Add(total, max(container.Quota, 0))
	}
	if b.Quota > 0 {
		b.Quota = max(b.Quota, total)
	}
}

// bound computes the bounds of what requests and limits say; note is for limits that are not set.
func (in Input) bound(requests, limits podrequest.Amount, note string) Bounds {
	out := Bounds{Shares: cfs.Shares(requests.MilliCPU), Quota: Unlimited, Memory: Unlimited, Operands: Operands{
		RequestMilli: requests.MilliCPU, LimitMilli: limits.MilliCPU, LimitMemory: limits.Memory,
	}}
	switch {
	case in.QuotaBySuppression && in.Tier == podrequest.Batch:
		out.Operands.QuotaNote = noteSuppression
	case limits.MilliCPU <= 0:
		out.Operands.QuotaNote = note
	default:
		out.Operands.BaseQuota = max(cfs.Quota(limits.MilliCPU), cfs.LeastQuota)
		out.Quota = max(cfs.Normalized(out.Operands.BaseQuota, in.NormalizationPercent), cfs.LeastQuota)
		if in.NormalizationPercent > 100 {
			out.Operands.NormalizationPercent = in.NormalizationPercent
		}
	}
	if limits.Memory > 0 {
		out.Memory = limits.Memory
	} else {
		out.Operands.MemoryNote = note
	}
	return out
}
