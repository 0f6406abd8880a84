package overcommit

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/waterfall"
)

// mid is requests of prod pods that are predicted to stay unused for long:
//
//	min( max(min(prodReclaimable, unused now), 0) + unallocated * midUnallocatedPercent, capacity * mid{}ThresholdPercent )
//
// or, in static mode, min( capacity * midStatic{}ReservedPercent, capacity * mid{}ThresholdPercent ).
func (c *calculation) mid(k kind, w *waterfall.Waterfall) Value {
	strategy := &c.in.Strategy.Strategy
	total := k.of(c.capacity.Total)
	threshold := bounded(orDefault(strategy.MidMemoryThresholdPercent, 100))
	reserved := bounded(orDefault(strategy.MidStaticMemoryReservedPercent, 0))
	if k.cpu {
		threshold = bounded(orDefault(strategy.MidCPUThresholdPercent, 100))
		reserved = bounded(orDefault(strategy.MidStaticCPUReservedPercent, 0))
	}
	limit := capacity.Percent(total, threshold)
	limitKey := k.pick("midCPUThresholdPercent", "midMemoryThresholdPercent")

	if c.policy(k) == policyStatic {
		static := capacity.Percent(total, reserved)
		key := k.pick("midStaticCPUReservedPercent", "midStaticMemoryReservedPercent")
		c.explainShare(w.Step(diagnosticsv1alpha1.Start, "staticReserved", static, ""), k, key, reserved)
		c.explainThreshold(w.Step(diagnosticsv1alpha1.Min, "threshold", limit, ""), k, limitKey, threshold)
		if c.trace != nil {
			c.trace.say("midAllocatable[%s]:%d = min(nodeCapacity:%d * staticReservedRatio:%v, nodeCapacity:%[3]d * thresholdRatio:%[5]v)",
				midLabel(k), k.messageValue(w.Value()), k.messageValue(total), ratio(reserved), ratio(threshold))
		}
	} else {
		c.midPredicted(k, w, limit, limitKey, threshold)
	}
	return c.offer(k, w, w.Value())
}

func (c *calculation) midPredicted(k kind, w *waterfall.Waterfall, limit int64, limitKey string, threshold int64) {
	share := bounded(orDefault(c.in.Strategy.Strategy.MidUnallocatedPercent, 0))
	reclaimable := c.reclaimable(k)
	unused := waterfall.Add(k.of(c.capacity.Total), -k.of(c.metric.node))
	unallocated := c.unallocated(k)

	c.explainReclaimable(w.Step(diagnosticsv1alpha1.Start, "prodReclaimable", reclaimable, ""), k)
	c.explainUnused(w.Step(diagnosticsv1alpha1.Min, "unused", unused, ""), k)
	c.explainFloor(w.Step(diagnosticsv1alpha1.Max, "floor", 0, ""))
	if share > 0 {
		c.explainUnallocated(w.Step(diagnosticsv1alpha1.Plus, "unallocatedShare", capacity.Percent(unallocated, share), ""), k, share, unallocated)
	}
	c.explainThreshold(w.Step(diagnosticsv1alpha1.Min, "threshold", limit, ""), k, limitKey, threshold)
	if c.trace == nil {
		return
	}
	c.trace.say("midAllocatable[%s]:%d = min(min(ProdReclaimable:%d, NodeUnused:%d) + Unallocated:%d * midUnallocatedRatio:%v, nodeCapacity:%d * thresholdRatio:%v)",
		midLabel(k), k.messageValue(w.Value()), k.messageValue(reclaimable), k.messageValue(unused), k.messageValue(unallocated),
		ratio(share), k.messageValue(k.of(c.capacity.Total)), ratio(threshold))
}

// unallocated is what neither the system nor requests of prod pods hold, at least zero.
func (c *calculation) unallocated(k kind) int64 {
	free := waterfall.Add(k.of(c.capacity.Total), -c.systemUse(k))
	return max(waterfall.Add(free, -k.of(c.load.prodRequested)), 0)
}

func midLabel(k kind) string { return k.pick("CPU(milli-core)", "Memory(GB)") }

// bounded keeps a percentage in 0 to 100.
func bounded(percent int64) int64 { return min(max(percent, 0), 100) }

func ratio(percent int64) float64 { return float64(percent) / 100 }
