package agentview

import (
	"math"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cfs"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

const (
	// DefaultCandidates is the number of pods listed below a trigger.
	DefaultCandidates = 10
	// MostCandidates is how many may be asked for.
	MostCandidates = 1000
)

// Candidates is how many candidates a question wants.
func Candidates(question *diagnosticsv1alpha1.AgentQuestion) int {
	if question.MaxCandidates == nil {
		return DefaultCandidates
	}
	return int(min(max(*question.MaxCandidates, 0), MostCandidates))
}

// Evictions forecasts them by the decision itself, from an input that may be the agent's own or made of objects.
func Evictions(in eviction.Input, samples []Sample, most int) *diagnosticsv1alpha1.EvictionForecast {
	trend, shown := trendOf(samples)
	out := &diagnosticsv1alpha1.EvictionForecast{Trend: shown, Triggers: []diagnosticsv1alpha1.EvictionTrigger{}}
	for _, distance := range eviction.Forecast(in, trend, most) {
		out.Triggers = append(out.Triggers, trigger(distance))
	}
	if in.Budget != nil && in.Budget.Window > 0 {
		out.EvictedWithinSeconds = int64(in.Budget.Window.Seconds())
		for _, at := range in.Budget.Evicted {
			if in.Now.Sub(at) < in.Budget.Window {
				out.Evicted++
			}
		}
	}
	return out
}

// trendOf is by how much use grows, for the decision and for the answer; nil for fewer samples than make one.
func trendOf(samples []Sample) (eviction.Trend, *diagnosticsv1alpha1.UsageTrend) {
	cpu, memory := make([]eviction.Sample, len(samples)), make([]eviction.Sample, len(samples))
	for i, sample := range samples {
		cpu[i] = eviction.Sample{At: sample.At, Value: float64(sample.Used.MilliCPU)}
		memory[i] = eviction.Sample{At: sample.At, Value: float64(sample.Used.Memory)}
	}
	trend := eviction.Trend{CPU: eviction.SlopeOf(cpu), Memory: eviction.SlopeOf(memory)}
	if trend.CPU == nil || trend.Memory == nil {
		return eviction.Trend{}, nil
	}
	oldest, newest := samples[0].At, samples[0].At
	for _, sample := range samples {
		if sample.At.Before(oldest) {
			oldest = sample.At
		}
		if sample.At.After(newest) {
			newest = sample.At
		}
	}
	return trend, &diagnosticsv1alpha1.UsageTrend{
		OverSeconds: int64(newest.Sub(oldest).Seconds()), Samples: int32(len(samples)), CPUPerHour: whole(*trend.CPU * 3600), MemoryPerHour: whole(*trend.Memory * 3600),
	}
}

// whole rounds to a number that int64 can hold.
func whole(value float64) int64 {
	return int64(min(max(math.Round(value), -1<<62), 1<<62))
}

func trigger(d eviction.Distance) diagnosticsv1alpha1.EvictionTrigger {
	out := diagnosticsv1alpha1.EvictionTrigger{
		Feature: string(d.Feature), Tier: string(d.Tier), State: diagnosticsv1alpha1.TriggerState(d.State), Reason: d.Reason, Unit: d.Unit,
		Release: d.Release, Held: d.Held, CandidatesUnknown: d.CandidatesUnknown, CandidatesOmitted: int32(d.Omitted), Protected: int32(d.Protected),
	}
	if d.State == eviction.Calm || d.State == eviction.Triggered {
		out.ObservedPercent, out.ThresholdPercent, out.TargetPercent, out.Margin = &d.ObservedPercent, &d.ThresholdPercent, &d.TargetPercent, &d.Margin
	}
	if d.Seconds != nil {
		out.Seconds = new(whole(*d.Seconds))
	}
	for _, candidate := range d.Next {
		out.Candidates = append(out.Candidates, candidateOf(candidate, d.Unit))
	}
	return out
}

func candidateOf(c eviction.Candidate, unit diagnosticsv1alpha1.Unit) diagnosticsv1alpha1.EvictionCandidate {
	out := diagnosticsv1alpha1.EvictionCandidate{Namespace: c.Pod.Namespace, Name: c.Pod.Name, Agent: c.Pod.Agent, Frees: c.Frees, Victim: c.Victim}
	for _, key := range c.Keys {
		shown := diagnosticsv1alpha1.SortKey{Name: string(key.Name), Value: whole(key.Value), Unit: diagnosticsv1alpha1.Count, Descending: key.Descending}
		switch key.Name {
		case eviction.KeyUsedOfRequest, eviction.KeyDone:
			shown.Value, shown.Unit = whole(key.Value*100), diagnosticsv1alpha1.Percent
		case eviction.KeyUsed, eviction.KeyRequested:
			shown.Unit = unit
		case eviction.KeyWork:
			shown.Unit = diagnosticsv1alpha1.Seconds
		}
		out.Keys = append(out.Keys, shown)
	}
	return out
}

// EvictionInput is what evictions are decided of, from objects: the averages over a window are taken to be what was measured last.
func (n *Node) EvictionInput(suppressed suppression.Decision) eviction.Input {
	size := capacity.Of(n.Object)
	in := eviction.Input{
		Now: n.Now, Strategy: n.strategy(), On: n.On, Unknown: n.Unknown, Budget: eviction.DefaultBudget(),
		Node: eviction.Node{Observation: n.Observation, Capacity: size.Total, Used: n.Used, Offers: eviction.OffersOf(n.Object)},
	}
	for _, pod := range n.Pods {
		in.Pods = append(in.Pods, eviction.PodOf(pod, n.used(pod)))
	}
	if n.Observation.At.IsZero() {
		return in
	}
	// One measurement covers the whole window: it is an average itself.
	got := eviction.BestEffortOf(in.Pods, limitOf(suppressed, size.Total))
	in.BestEffort = &eviction.Satisfaction{Average: got, Current: got, Samples: 1, Interval: max(n.Observation.Period, eviction.WindowOf(n.strategy()))}
	return in
}

// limitOf is what a decision leaves to best-effort pods, in milli-cores.
func limitOf(d suppression.Decision, whole podrequest.Amount) int64 {
	limit := whole.MilliCPU
	if !d.Enabled || d.Hold != "" {
		return limit
	}
	if d.CPUs.Hold == "" && !d.CPUs.CPUs.IsEmpty() {
		limit = min(limit, int64(d.CPUs.CPUs.Len())*1000)
	}
	if d.Quota.Quota > 0 {
		limit = min(limit, cfs.Milli(d.Quota.Quota))
	}
	return limit
}
