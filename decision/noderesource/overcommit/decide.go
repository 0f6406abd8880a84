package overcommit

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Value is one computed resource.
type Value struct {
	// Value to offer, in milli-cores or bytes.
	Value int64
	// Origin is the offer before other schedulers took their part; equal to Value for mid resources.
	Origin int64
	// OverCapacity is how much of Value is beyond the node's capacity, in the unit of Value; 0 when nothing is. Settings
	// beyond 100 % and cpu normalisation can bring that about, and pods that rely on it will not find it.
	OverCapacity int64
	// Withdrawn means that the resource is to be removed from the node, not offered as zero.
	Withdrawn bool
	// Reason for withdrawing it.
	Reason string
	// Unknown says why the resource could not be computed, because an input could not be read; the rest is then zero and means
	// nothing. Empty when it was computed.
	Unknown string
}

// Result is what one node offers.
type Result struct {
	BatchCPU, BatchMemory, MidCPU, MidMemory Value
	// Metric says how far the node's measurements could be trusted.
	Metric diagnosticsv1alpha1.MetricState
	// NotEnforcing says, as "REASON: MESSAGE", why the node's agent cannot limit best-effort pods; empty when it can, or does not
	// tell.
	NotEnforcing string
	// Expires is when the measurements turn too old to be believed, or when an offer is held back no longer; zero when the
	// measurements are not believed already.
	Expires time.Time
	// Steadiness of the measurements, for the next calculation of the node.
	Steadiness Steadiness
	// ThirdParty is what other schedulers take of batch; where they do, the origin must be published.
	ThirdParty podrequest.Amount
}

// Of returns the value of a resource, and false for one this package does not compute.
func (r Result) Of(name corev1.ResourceName) (Value, bool) {
	for i, k := range kinds {
		if k.name == name {
			return [...]Value{r.BatchCPU, r.BatchMemory, r.MidCPU, r.MidMemory}[i], true
		}
	}
	return Value{}, false
}

// OverCapacity names the resources of which more is offered than the node has, in the order of Resources.
func (r Result) OverCapacity() []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, name := range Resources() {
		if value, _ := r.Of(name); value.OverCapacity > 0 {
			names = append(names, name)
		}
	}
	return names
}

// Calculate decides what a node offers. A nil node offers nothing. A nil trace records nothing.
func Calculate(in NodeInput, trace *Trace) Result {
	trace.reset()
	if in.Node == nil {
		gone := Value{Withdrawn: true, Reason: "node does not exist"}
		return Result{BatchCPU: gone, BatchMemory: gone, MidCPU: gone, MidMemory: gone, Metric: diagnosticsv1alpha1.MetricAbsent}
	}
	return newCalculation(&in, trace).result()
}

// result computes all resources.
func (c *calculation) result() Result {
	result := Result{
		BatchCPU:     c.value(kinds[0]),
		BatchMemory:  c.value(kinds[1]),
		MidCPU:       c.value(kinds[2]),
		MidMemory:    c.value(kinds[3]),
		Metric:       c.metric.facts.State,
		NotEnforcing: c.unenforced,
		Steadiness:   c.steady,
		ThirdParty:   c.thirdParty,
	}
	switch policy, _ := c.withdrawn(kinds[0]); {
	case c.unknown(kinds[0]) != "":
	case !c.held.IsZero() && policy == policyDegraded && c.metric.trusted():
		result.Expires = c.held
	case policy == "":
		result.Expires = c.metric.facts.UpdateTime.Add(degradeAfter(&c.in.Strategy.Strategy) + time.Nanosecond)
	}
	return result
}
