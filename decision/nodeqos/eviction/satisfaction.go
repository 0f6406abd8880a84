package eviction

import (
	"fmt"
	"time"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/podrequest"
)

// defaultBusyPercent is cpuEvictBEUsageThresholdPercent where it is not set.
const defaultBusyPercent = 90

// leastMeasurable in milli-cores is the limit below which use says nothing: so little is always used up.
const leastMeasurable = 1000

// coverage is the part of the window that samples have to cover: a third.
const coverage = 3

// longestWindow is the longest that averages are taken over, whatever is asked for.
const longestWindow = time.Hour

// satisfaction compares what best-effort pods get with what they requested, over the window and now.
func (d Demand) satisfaction(in *Input, trace *Trace) Demand {
	got := in.BestEffort
	if got == nil {
		return d.in(Unknown, "the CPU satisfaction of best-effort pods was not measured")
	}
	if window := windowOf(in.Strategy, got.Interval); time.Duration(got.Samples)*got.Interval < window/coverage {
		return d.in(Unknown, fmt.Sprintf("%d samples of %s cover less than a third of %s", got.Samples, got.Interval, window))
	}
	average, current := got.Average, got.Current
	if in.Strategy.CPUEvictPolicy == slov1alpha1.EvictByAllocatablePolicy {
		offer, offered := in.Node.Offers[podrequest.Batch]
		if !offered || offer.Withdrawn != "" {
			return d.in(Unknown, "the node offers no batch-cpu: "+offer.Withdrawn)
		}
		// An offer of nothing is a limit, too; one thousandth lets it be divided by.
		average, current = average.ofPods(), current.ofPods()
		average.Limit = max(offer.Amount.MilliCPU, 1)
		current.Limit = average.Limit
	}
	if current.Request <= 0 || average.Request <= 0 {
		return d.in(Calm, "no best-effort pod requests batch-cpu")
	}
	d.ObservedPercent = percentOf(max(current.Limit, 0), current.Request)
	d.Reason = fmt.Sprintf("best-effort pods get %s of %s cores requested, evicted at %d%%", cores(current.Limit), cores(current.Request), d.ThresholdPercent)
	d.Margin = max(current.Limit-capacity.Percent(current.Request, d.ThresholdPercent), 0)
	for _, level := range []struct {
		when string
		cpu  BestEffortCPU
	}{{"on average", average}, {"now", current}} {
		if why := d.satisfied(level.cpu, in.Strategy); why != "" {
			return d.in(Calm, why+" "+level.when)
		}
	}
	return d.releaseRequests(average, current, trace)
}

// releaseRequests is what has to be released, on average or now, whichever is less.
func (d Demand) releaseRequests(average, current BestEffortCPU, trace *Trace) Demand {
	w := trace.steps(&d)
	w.Step(diagnosticsv1alpha1.Start, "requested", average.Request, "batch-cpu of best-effort pods, on average")
	w.Step(diagnosticsv1alpha1.Times, "upper", d.TargetPercent, "of the request is to be satisfied")
	w.Step(diagnosticsv1alpha1.Minus, "limit", average.Limit, "what they may use, on average")
	w.Step(diagnosticsv1alpha1.Min, "now", capacity.Percent(current.Request, d.TargetPercent)-current.Limit, "the same of what they request and may use now")
	if w.Value() <= 0 {
		return d.in(Calm, d.Reason)
	}
	d.Release = trace.released(&d, &w)
	d.Margin = 0
	return d.in(Triggered, d.Reason)
}

// WindowOf is the window of averages of a strategy, cpuEvictTimeWindowSeconds, at most an hour; 0 where it is not set.
func WindowOf(strategy *slov1alpha1.ResourceThresholdStrategy) time.Duration {
	if strategy == nil {
		return 0
	}
	return windowOf(strategy, 0)
}

// windowOf is the window of averages: cpuEvictTimeWindowSeconds, but at least one interval and at most an hour.
func windowOf(strategy *slov1alpha1.ResourceThresholdStrategy, interval time.Duration) time.Duration {
	seconds := min(max(orElse(strategy.CPUEvictTimeWindowSeconds, 0), 0), int64(longestWindow/time.Second))
	return max(time.Duration(seconds)*time.Second, interval)
}

// satisfied says why best-effort pods have enough; empty when they do not.
func (d *Demand) satisfied(cpu BestEffortCPU, strategy *slov1alpha1.ResourceThresholdStrategy) string {
	busy := orElse(strategy.CPUEvictBEUsageThresholdPercent, defaultBusyPercent)
	switch {
	case cpu.Limit <= 0:
		return "the limit of best-effort pods is not known"
	case cpu.Limit > capacity.Percent(cpu.Request, d.ThresholdPercent):
		return fmt.Sprintf("best-effort pods get %s of %s cores requested, more than %d%%", cores(cpu.Limit), cores(cpu.Request), d.ThresholdPercent)
	case cpu.Limit >= leastMeasurable && percentOf(max(cpu.Used, 0), cpu.Limit) < busy:
		return fmt.Sprintf("best-effort pods use %s of %s cores they get, less than %d%%", cores(cpu.Used), cores(cpu.Limit), busy)
	}
	return ""
}
