package batchcgroup

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cfs"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Unlimited is the quota and the memory limit of what is not bounded.
const Unlimited int64 = -1

// Input is everything the bounds of one pod depend on. Nothing in it is modified.
type Input struct {
	// Tier whose resources the containers were read in: batch or mid.
	Tier podrequest.Tier
	// Containers of the pod, sidecars included.
	Containers []Container
	// NormalizationPercent is what one CPU of the node is worth: 120 for 1.2. 100 and less change nothing.
	NormalizationPercent int64
	// QuotaBySuppression is true while suppression holds all best-effort pods with one quota. It concerns batch pods alone.
	QuotaBySuppression bool
	// Overhead of the pod's sandbox in milli-cores and bytes, which only the pod is given.
	Overhead podrequest.Amount
}

// Container is what one container requests and is limited to.
type Container struct {
	Name string
	// Requests in milli-cores and bytes; 0 for none.
	Requests podrequest.Amount
	// Limits; 0 for none.
	Limits podrequest.Amount
}

// Bounds of one group of processes.
type Bounds struct {
	// Shares is cpu.shares.
	Shares int64 `json:"shares"`
	// Quota is cpu.cfs_quota_us per 100 ms; -1 for none.
	Quota int64 `json:"quota"`
	// Memory is memory.limit_in_bytes; -1 for none.
	Memory int64 `json:"memory"`
	// Trace says how they came about.
	Trace Trace `json:"trace"`
}

// Trace is the operands of bounds.
type Trace struct {
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
	out := Bounds{Shares: cfs.Shares(requests.MilliCPU), Quota: Unlimited, Memory: Unlimited, Trace: Trace{
		RequestMilli: requests.MilliCPU, LimitMilli: limits.MilliCPU, LimitMemory: limits.Memory,
	}}
	switch {
	case in.QuotaBySuppression && in.Tier == podrequest.Batch:
		out.Trace.QuotaNote = noteSuppression
	case limits.MilliCPU <= 0:
		out.Trace.QuotaNote = note
	default:
		out.Trace.BaseQuota = max(cfs.Quota(limits.MilliCPU), cfs.LeastQuota)
		out.Quota = max(cfs.Normalized(out.Trace.BaseQuota, in.NormalizationPercent), cfs.LeastQuota)
		if in.NormalizationPercent > 100 {
			out.Trace.NormalizationPercent = in.NormalizationPercent
		}
	}
	if limits.Memory > 0 {
		out.Memory = limits.Memory
	} else {
		out.Trace.MemoryNote = note
	}
	return out
}

// Applies says whether pods of a tier are bounded here.
func Applies(tier podrequest.Tier) bool { return tier == podrequest.Batch || tier == podrequest.Mid }

// FromPod reads the containers of a pod in its tier; false for a pod of neither batch nor mid. The annotation
// extended-resource-spec repeats what their resources are, and whoever makes a pod can write it. It can only hold a pod back: it limits
// containers whose spec says nothing of the tier, which had no limit without it. Sidecars are containers; init containers that end are
// bounded while they run, and left out of the pod's sum.
func FromPod(pod *corev1.Pod) (Input, bool) {
	requests := podrequest.Of(pod)
	tier := requests.Tier()
	if !Applies(tier) {
		return Input{}, false
	}
	listed, err := extension.GetExtendedResourceSpec(pod.Annotations)
	if err != nil || listed == nil {
		listed = &extension.ExtendedResourceSpec{}
	}
	in := Input{Tier: tier, Overhead: Amount(pod.Spec.Overhead, tier)}
	add := func(container *corev1.Container) {
		resources := &container.Resources
		bounded := Container{Name: container.Name, Requests: Amount(resources.Requests, tier), Limits: Amount(resources.Limits, tier)}
		if bounded.Requests == (podrequest.Amount{}) && bounded.Limits == (podrequest.Amount{}) {
			bounded.Limits = Amount(listed.Containers[container.Name].Limits, tier)
		}
		in.Containers = append(in.Containers, bounded)
	}
	for i := range pod.Spec.InitContainers {
		if policy := pod.Spec.InitContainers[i].RestartPolicy; policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			add(&pod.Spec.InitContainers[i])
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return in, true
}

// Amount reads the CPU and memory of a tier in a list; negative quantities count as zero.
func Amount(list corev1.ResourceList, tier podrequest.Tier) podrequest.Amount {
	cpu, memory := extension.BatchCPU, extension.BatchMemory
	if tier == podrequest.Mid {
		cpu, memory = extension.MidCPU, extension.MidMemory
	}
	milli, bytes := list[cpu], list[memory]
	return podrequest.Amount{MilliCPU: max(milli.Value(), 0), Memory: max(bytes.Value(), 0)}
}
