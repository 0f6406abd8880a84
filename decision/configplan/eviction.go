package configplan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/capacity"
)

// lowerBy is how far below its threshold an eviction goes on where no lower percentage is set.
const lowerBy = 2

// eviction is one feature's demand: how much has to be released, by which pods, in which order.
type eviction struct {
	feature string
	// release in milli-cores or bytes; nothing is evicted for zero.
	release int64
	// eligible says which pods may go, order who goes first, and frees what one frees.
	eligible func(*loadedPod) bool
	order    func(a, b *loadedPod) int
	frees    func(*loadedPod) int64
	reason   string
}

// evicted are the pods an eviction removes; what others have removed already counts as released.
func (p *pressure) evicted(e eviction, gone map[*corev1.Pod]bool) []PodEffect {
	if e.release <= 0 || !p.runs(e.feature, false) {
		return nil
	}
	var candidates []*loadedPod
	released := int64(0)
	for i := range p.pods {
		pod := &p.pods[i]
		if gone[pod.pod] {
			released += e.frees(pod)
			continue
		}
		allowed, err := extension.IsEvictionAllowed(pod.pod.Annotations, e.feature)
		if err == nil && allowed && e.eligible(pod) {
			candidates = append(candidates, pod)
		}
	}
	slices.SortStableFunc(candidates, e.order)
	var out []PodEffect
	for _, pod := range candidates {
		if released >= e.release {
			break
		}
		freed := e.frees(pod)
		if freed <= 0 {
			continue
		}
		released += freed
		gone[pod.pod] = true
		out = append(out, p.effect(pod.pod, Evicted, e.feature, e.reason))
	}
	return out
}

func isBestEffort(pod *loadedPod) bool { return pod.requests.QoS == extension.QoSBE }

func cpuUsed(pod *loadedPod) int64    { return pod.used.MilliCPU }
func memoryUsed(pod *loadedPod) int64 { return pod.used.Memory }

// byMemory orders the lowest priority first, and of one priority the largest use of memory.
func byMemory(a, b *loadedPod) int {
	return cmp.Or(byPriority(a, b), cmp.Compare(b.used.Memory, a.used.Memory))
}

// byCPURatio orders the lowest priority first, and of one priority the largest use of what was requested.
func byCPURatio(a, b *loadedPod) int {
	return cmp.Or(byPriority(a, b), cmp.Compare(ratio(b.used.MilliCPU, b.requests.Requests.Batch.MilliCPU), ratio(a.used.MilliCPU, a.requests.Requests.Batch.MilliCPU)))
}

func ratio(used, requested int64) float64 { return float64(used) / float64(max(requested, 1)) }

// byWish orders by the pods' own annotation first, then by priority and the label below it, then by memory or CPU used.
func byWish(used func(*loadedPod) int64) func(a, b *loadedPod) int {
	wish := func(pod *loadedPod) int32 {
		value, _ := extension.EvictionPriority(pod.pod.Annotations)
		return value
	}
	below := func(pod *loadedPod) int64 {
		value, _ := strconv.ParseInt(pod.pod.Labels[extension.LabelPodPriority], 10, 64)
		return value
	}
	return func(a, b *loadedPod) int {
		return cmp.Or(cmp.Compare(wish(a), wish(b)), byPriority(a, b), cmp.Compare(below(a), below(b)), cmp.Compare(used(b), used(a)))
	}
}

// upTo is pods that agree to be evicted and have at most a priority; none without a priority.
func upTo(threshold *int32) func(*loadedPod) bool {
	return func(pod *loadedPod) bool {
		return threshold != nil && extension.IsPodEvictEnabled(pod.pod.Labels) && priority(pod.pod) <= *threshold
	}
}

// excess is what has to be released of a total when its use in whole percent reaches a threshold: down to the lower one.
func excess(used, total int64, threshold, lower *int64) (release, percent int64) {
	if threshold == nil || total <= 0 || used > math.MaxInt64/100 {
		return 0, 0
	}
	percent = used * 100 / total
	if percent < *threshold {
		return 0, percent
	}
	return capacity.Percent(total, percent-orElse(lower, *threshold-lowerBy)), percent
}

func (p *pressure) forMemory(strategy *slov1alpha1.ResourceThresholdStrategy) eviction {
	release, percent := excess(p.used.Memory, p.total.Memory, strategy.MemoryEvictThresholdPercent, strategy.MemoryEvictLowerPercent)
	return eviction{feature: "BEMemoryEvict", release: release, eligible: isBestEffort, order: byMemory, frees: memoryUsed,
		reason: fmt.Sprintf("%d %% of the memory is used, evicted from %d %%", percent, orElse(strategy.MemoryEvictThresholdPercent, 0))}
}

func (p *pressure) forCPU(strategy *slov1alpha1.ResourceThresholdStrategy) eviction {
	release, percent := excess(p.used.MilliCPU, p.total.MilliCPU, strategy.CPUEvictThresholdPercent, strategy.CPUEvictLowerPercent)
	return eviction{feature: "CPUEvict", release: release, eligible: upTo(strategy.EvictEnabledPriorityThreshold), order: byWish(cpuUsed), frees: cpuUsed,
		reason: fmt.Sprintf("%d %% of the CPU is used, evicted from %d %%", percent, orElse(strategy.CPUEvictThresholdPercent, 0))}
}

// forSatisfaction is for best-effort pods that use all they get and get too little of what they requested.
func (p *pressure) forSatisfaction(strategy *slov1alpha1.ResourceThresholdStrategy, batchCPU int64) eviction {
	lower, upper := strategy.CPUEvictBESatisfactionLowerPercent, strategy.CPUEvictBESatisfactionUpperPercent
	e := eviction{feature: "BECPUEvict", eligible: isBestEffort, order: byCPURatio,
		frees: func(pod *loadedPod) int64 { return pod.requests.Requests.Batch.MilliCPU }}
	requested := int64(0)
	for i := range p.pods {
		if isBestEffort(&p.pods[i]) {
			requested += p.pods[i].requests.Requests.Batch.MilliCPU
		}
	}
	if lower == nil || upper == nil || requested == 0 {
		return e
	}
	limit := p.budget(strategy)
	if strategy.CPUEvictPolicy == slov1alpha1.EvictByAllocatablePolicy {
		limit = batchCPU
	}
	satisfaction := limit * 100 / requested
	busy := limit < 1000 || p.bestEffort.MilliCPU*100 >= limit*orElse(strategy.CPUEvictBEUsageThresholdPercent, 90)
	if satisfaction > *lower || !busy {
		return e
	}
	e.release = capacity.Percent(requested, *upper-satisfaction)
	e.reason = fmt.Sprintf("best-effort pods get %s of %s cores requested, evicted at %d %%", cores(limit), cores(requested), *lower)
	return e
}

// forRequests is for pods that have requested more batch resources than are offered.
func (p *pressure) forRequests(strategy *slov1alpha1.ResourceThresholdStrategy, cpu bool, offer int64) eviction {
	what, threshold, lower := "memory", strategy.MemoryAllocatableEvictThresholdPercent, strategy.MemoryAllocatableEvictLowerPercent
	e := eviction{feature: "MemoryAllocatableEvict", eligible: upTo(strategy.AllocatableEvictPriorityThreshold), order: byWish(memoryUsed),
		frees: func(pod *loadedPod) int64 { return pod.requests.Requests.Batch.Memory }}
	if cpu {
		what, threshold, lower = "CPU", strategy.CPUAllocatableEvictThresholdPercent, strategy.CPUAllocatableEvictLowerPercent
		e.feature, e.order, e.frees = "CPUAllocatableEvict", byWish(cpuUsed), func(pod *loadedPod) int64 { return pod.requests.Requests.Batch.MilliCPU }
	}
	if threshold == nil || strategy.AllocatableEvictPriorityThreshold == nil {
		return e
	}
	requested := int64(0)
	for i := range p.pods {
		if priority(p.pods[i].pod) <= *strategy.AllocatableEvictPriorityThreshold {
			requested += e.frees(&p.pods[i])
		}
	}
	if requested <= capacity.Percent(offer, *threshold) {
		return e
	}
	e.release = requested - capacity.Percent(offer, orElse(lower, *threshold-lowerBy))
	e.reason = fmt.Sprintf("batch %s requested is more than %d %% of the offer", what, *threshold)
	return e
}
