package overcommit

import (
	"fmt"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/waterfall"
)

// batch is what pods above batch leave of a node:
//
//	usage            capacity - margin - max(system, reserved) - sum(used)
//	request          capacity - margin - reserved              - sum(request)             (memory only)
//	maxUsageRequest  capacity - margin - max(system, reserved) - sum(max(request, used))
//
// less what the pods are predicted to use beyond that, where a predictor is chosen and their use counts;
// at least zero, at most batch{CPU,Memory}ThresholdPercent of the capacity; for cpu times the normalisation ratio; less
// what other schedulers took.
func (c *calculation) batch(k kind, w *waterfall.Waterfall) Value {
	strategy := &c.in.Strategy.Strategy
	total := k.of(c.capacity.Total)
	policy := c.policy(k)
	margin := capacity.Percent(total, 100-c.reclaimPercent(k))

	c.explainCapacity(w.Step(diagnosticsv1alpha1.Start, "capacity", total, ""), k)
	c.explainMargin(w.Step(diagnosticsv1alpha1.Minus, "safetyMargin", margin, ""), k)
	kept := c.takeSystem(k, policy, w)
	pods := c.takePods(k, policy, w)
	rise := c.takeRise(k, policy, pods, w)
	c.explainFloor(w.Step(diagnosticsv1alpha1.Max, "floor", 0, ""))

	threshold := strategy.BatchMemoryThresholdPercent
	if k.cpu {
		threshold = strategy.BatchCPUThresholdPercent
	}
	if threshold != nil {
		c.explainThreshold(w.Step(diagnosticsv1alpha1.Min, "threshold", capacity.Percent(total, max(*threshold, 0)), ""), k,
			k.pick("batchCPUThresholdPercent", "batchMemoryThresholdPercent"), *threshold)
	}
	c.batchMessage(k, w, policy, margin, kept, pods, rise)

	if k.cpu && c.capacity.NormalizationPercent > 100 {
		c.explainNormalization(w.Step(diagnosticsv1alpha1.Times, "cpuNormalization", c.capacity.NormalizationPercent, ""))
	}
	origin := w.Value()
	if taken := k.of(c.thirdParty); taken > 0 {
		c.explainThirdParty(w.Step(diagnosticsv1alpha1.Minus, "thirdParty", taken, ""), k, origin)
		c.explainFloor(w.Step(diagnosticsv1alpha1.Max, "floor", 0, ""))
	}
	return c.offer(k, w, origin)
}

func (c *calculation) reclaimPercent(k kind) int64 {
	if k.cpu {
		return max(orDefault(c.in.Strategy.Strategy.CPUReclaimThresholdPercent, defaultCPUReclaim), 0)
	}
	return max(orDefault(c.in.Strategy.Strategy.MemoryReclaimThresholdPercent, defaultMemoryReclaim), 0)
}

// Defaults for strategies that were not merged over the built-in one.
const (
	defaultCPUReclaim    = 60
	defaultMemoryReclaim = 65
)

func (c *calculation) takeSystem(k kind, policy string, w *waterfall.Waterfall) int64 {
	if policy == string(configuration.CalculateByPodRequest) {
		reserved := k.of(c.reserved)
		c.explainReserved(w.Step(diagnosticsv1alpha1.Minus, "reserved", reserved, ""), k)
		return reserved
	}
	use := c.systemUse(k)
	c.explainSystem(w.Step(diagnosticsv1alpha1.Minus, "systemUsed", use, ""), k)
	return use
}

func (c *calculation) takePods(k kind, policy string, w *waterfall.Waterfall) int64 {
	name, sum := "podsUsed", k.of(c.load.used)
	pick := func(p podPart) int64 { return k.of(p.used) }
	switch policy {
	case string(configuration.CalculateByPodRequest):
		name, sum = "podsRequested", k.of(c.load.requested)
		pick = func(p podPart) int64 { return k.of(p.requested) }
	case string(configuration.CalculateByPodMaxUsageRequest):
		name, sum = "podsMaxUsedRequested", k.of(c.load.larger)
		pick = func(p podPart) int64 { return k.of(p.larger) }
	}
	c.explainPods(w.Step(diagnosticsv1alpha1.Minus, name, sum, ""), k, policy, c.load.parts, pick)
	return sum
}

// batchMessage is the calculation in upstream's words.
func (c *calculation) batchMessage(k kind, w *waterfall.Waterfall, policy string, margin, kept, pods, rise int64) {
	if c.trace == nil {
		return
	}
	keptName := k.pick("systemUsageOrNodeReserved", "systemUsage")
	podsName := "podHPUsed"
	switch policy {
	case string(configuration.CalculateByPodRequest):
		keptName, podsName = "nodeReserved", "podHPRequest"
	case string(configuration.CalculateByPodMaxUsageRequest):
		podsName = "podHPMaxUsedRequest"
	}
	c.trace.say("batchAllocatable[%s]:%d = nodeCapacity:%d - nodeSafetyMargin:%d - %s:%d - %s:%d",
		k.pick("CPU(Milli-Core)", "Mem(GB)"), k.messageValue(w.Value()), k.messageValue(k.of(c.capacity.Total)),
		k.messageValue(margin), keptName, k.messageValue(kept), podsName, k.messageValue(pods))
	if rise > 0 {
		c.trace.message += fmt.Sprintf(" - predictedRise:%d", k.messageValue(rise))
	}
}
