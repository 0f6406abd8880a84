package loopguard

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
)

// Check returns every combination of thresholds with which one component undoes what another does, in the order of rules and
// resources.
//
// For each resource, it must be that low < scheduler's threshold <= high, and that the agent evicts only above what the scheduler and
// the descheduler fill nodes up to.
func Check(in Input) []Violation {
	var found []Violation
	if in.Descheduler.Enabled && !in.Descheduler.Deviation {
		for _, name := range names(in.Descheduler.Low, in.Descheduler.High) {
			found = append(found, order(&in, name)...)
			found = append(found, targets(&in, name)...)
			found = append(found, early(&in, name)...)
		}
		for _, name := range names(in.Descheduler.ProdLow, in.Descheduler.ProdHigh) {
			found = append(found, prod(&in, name)...)
		}
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		found = append(found, placement(&in, name)...)
	}
	return found
}

func names(lists ...map[corev1.ResourceName]float64) []corev1.ResourceName {
	all := map[corev1.ResourceName]bool{}
	for _, list := range lists {
		for name := range list {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// order compares low, the scheduler's threshold and high.
func order(in *Input, name corev1.ResourceName) []Violation {
	d := &in.Descheduler
	low, hasLow := d.Low[name]
	high, hasHigh := d.High[name]
	return ordered(in, name, span{
		low: operand{d.component(), "lowThresholds." + string(name), low, hasLow}, high: operand{d.component(), "highThresholds." + string(name), high, hasHigh},
	}, schedulerOperand(&in.Scheduler, name))
}

// prod does the same for the thresholds of prod pods.
func prod(in *Input, name corev1.ResourceName) []Violation {
	d := &in.Descheduler
	low, hasLow := d.ProdLow[name]
	high, hasHigh := d.ProdHigh[name]
	limit := in.Scheduler.Prod[name]
	return ordered(in, name, span{
		low: operand{d.component(), "prodLowThresholds." + string(name), low, hasLow}, high: operand{d.component(), "prodHighThresholds." + string(name), high, hasHigh},
	}, operand{schedulerName, "prodUsageThresholds." + string(name), limit, in.Scheduler.Enabled && limit > 0})
}

func schedulerOperand(s *Scheduler, name corev1.ResourceName) operand {
	path, percent, set := s.threshold(name)
	return operand{schedulerName, path, percent, set}
}

// span is the two thresholds of a descheduler's plugin.
type span struct{ low, high operand }

func ordered(in *Input, name corev1.ResourceName, s span, limit operand) []Violation {
	var found []Violation
	if s.low.set && s.high.set && s.low.percent >= s.high.percent {
		found = append(found, violation(LowNotBelowHigh, finding.ThresholdLoop, name, s.low, "is not below", s.high,
			"A node can be underutilized and overutilized at once: pods leave it and are sent to it.",
			"Lower "+s.low.String()+", or raise "+s.high.String()+"."))
	}
	if s.high.set && limit.set && limit.percent > s.high.percent {
		found = append(found, violation(SchedulerAboveHigh, finding.ThresholdLoop, name, limit, "is above", s.high,
			"The scheduler places pods on nodes from which the descheduler then removes pods.",
			"Set "+limit.String()+" to at most "+number(s.high.percent)+", or raise "+s.high.String()+"."))
	}
	// A planner asks the scheduler's own filters for each target; LowNodeLoad takes every node below low for one.
	if s.low.set && limit.set && !in.Descheduler.Planned && limit.percent <= s.low.percent {
		found = append(found, violation(SchedulerNotAboveLow, finding.ThresholdLoop, name, limit, "is not above", s.low,
			"Pods are evicted because nodes below "+s.low.path+" could take them, and the scheduler refuses these nodes.",
			"Raise "+limit.String()+" above "+number(s.low.percent)+", or lower "+s.low.String()+"."))
	}
	return found
}

// targets compares up to where the descheduler fills targets with where the agent begins to evict. The planner knows the thresholds of
// the agent and stays below them, as long as that leaves any room.
func targets(in *Input, name corev1.ResourceName) []Violation {
	d := &in.Descheduler
	high, hasHigh := d.High[name]
	if !hasHigh {
		return nil
	}
	fill := operand{d.component(), "highThresholds." + string(name), high, true}
	evictPath, evict, evicts := in.Agent.evicts(name)
	agent := operand{AgentName, evictPath, evict, evicts}
	if !d.Planned {
		if !evicts || evict > high {
			return nil
		}
		return []Violation{violation(AgentBelowHigh, finding.ThresholdLoop, name, agent, "is not above", fill,
			"The descheduler fills nodes up to the second threshold, and there the agent evicts best-effort pods.",
			"Raise "+agent.String()+" above "+number(high)+", or lower "+fill.String()+".")}
	}
	least := fill
	if limit := schedulerOperand(&in.Scheduler, name); limit.set && limit.percent < least.percent {
		least = limit
	}
	if evicts && evict < least.percent {
		least = agent
	}
	margin := operand{d.component(), "targetMarginPercent", d.Margin, true}
	if least.percent-d.Margin > 0 {
		return nil
	}
	return []Violation{violation(NoRoomForTargets, finding.ThresholdLoop, name, margin, "leaves nothing below", least,
		"No node can be a target: all are above the lowest of the thresholds less the margin.", "Lower "+margin.String()+", or raise "+least.String()+".")}
}

// early is where the descheduler moves pods before the agent has held best-effort pods back, which costs less.
func early(in *Input, name corev1.ResourceName) []Violation {
	high, hasHigh := in.Descheduler.High[name]
	if name != corev1.ResourceCPU || !hasHigh || !in.Agent.Enabled || in.Agent.CPUSuppress == nil || *in.Agent.CPUSuppress <= high {
		return nil
	}
	return []Violation{violation(SuppressAboveHigh, finding.ThresholdOrder, name, operand{AgentName, "cpuSuppressThresholdPercent", *in.Agent.CPUSuppress, true}, "is above",
		operand{in.Descheduler.component(), "highThresholds.cpu", high, true},
		"Pods are moved off nodes before the agent holds back best-effort pods there, which would be cheaper.",
		"Lower "+AgentName+".cpuSuppressThresholdPercent to at most "+number(high)+", or raise "+in.Descheduler.component()+".highThresholds.cpu.")}
}

// placement compares up to where the scheduler places pods with where the agent evicts best-effort pods.
func placement(in *Input, name corev1.ResourceName) []Violation {
	limit := schedulerOperand(&in.Scheduler, name)
	path, evict, evicts := in.Agent.evicts(name)
	if !limit.set || !evicts || evict > limit.percent || in.Agent.usual(name, evict) {
		return nil
	}
	agent := operand{AgentName, path, evict, true}
	return []Violation{violation(AgentBelowScheduler, finding.ThresholdLoop, name, agent, "is not above", limit,
		"The scheduler places best-effort pods on nodes from which the agent evicts them.",
		"Raise "+agent.String()+" above "+number(limit.percent)+", or lower "+limit.String()+".")}
}
