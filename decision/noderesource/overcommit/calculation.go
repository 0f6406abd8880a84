package overcommit

import (
	"time"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Reasons for withdrawing a resource, as upstream's messages spell them.
const (
	reasonDisabled      = "node colocation is disabled"
	reasonDegradedBatch = "degrade node resource because of abnormal nodeMetric, reason: degradedByBatchResource"
	reasonDegradedMid   = "degrade node Mid resource because of abnormal nodeMetric, reason: degradedByMidResource"
)

// Policies of a waterfall that are not calculate policies.
const (
	policyDisabled  = "disabled"
	policyDegraded  = "degraded"
	policyStatic    = "static"
	policyPredicted = "usage"
)

// calculation is one node's figures, read once and used for all four resources.
type calculation struct {
	in *NodeInput
	// trace is nil where only the result is asked for.
	trace    *Trace
	capacity capacity.Capacity
	metric   measurement
	load     podLoad
	// kubeletReserved and annotationReserved are what is kept from pods; reserved is the larger, resource by resource.
	kubeletReserved, annotationReserved, reserved podrequest.Amount
	// thirdParty is what other schedulers took of batch.
	thirdParty podrequest.Amount
	// unenforced says why the node's agent cannot limit best-effort pods; empty when it can, or does not tell.
	unenforced string
	// unreadable names an annotation whose content bounds the offer and cannot be read.
	unreadable string
	disabled   bool
	// steady is the steadiness of the measurements now, and held until when nothing is offered because of it.
	steady Steadiness
	held   time.Time
}

func newCalculation(in *NodeInput, trace *Trace) *calculation {
	c := &calculation{in: in, trace: trace, capacity: capacity.Of(in.Node)}
	c.disabled = !in.Unknown.Has(unknown.Configuration) && !orDefault(in.Strategy.Strategy.Enable, false)
	c.metric = measure(in, c.capacity.Total)
	c.unenforced = c.metric.facts.NotEnforcing
	c.steady = in.Steadiness.observe(c.metric.trusted(), in)
	c.held = c.steady.heldUntil(in)
	c.readReservation()
	c.readThirdParty()
	if !c.disabled && c.metric.trusted() && !in.Unknown.Has(unknown.Pods) {
		c.load = gather(in, &c.metric, trace != nil)
	}
	return c
}

func (c *calculation) readReservation() {
	c.kubeletReserved = c.capacity.KubeletReserved()
	reservation, err := extension.GetNodeReservation(c.in.Node.Annotations)
	if err != nil {
		c.unreadable = err.Error()
	}
	if reservation != nil {
		c.annotationReserved, _ = amountIn(reservation.Resources)
		if cpus, err := extension.ParseCPUList(reservation.ReservedCPUs); err == nil && len(cpus) > 0 {
			c.annotationReserved.MilliCPU = int64(len(cpus)) * 1000
		}
	}
	c.reserved = podrequest.Amount{
		MilliCPU: max(c.kubeletReserved.MilliCPU, c.annotationReserved.MilliCPU),
		Memory:   max(c.kubeletReserved.Memory, c.annotationReserved.Memory),
	}
}

// withdrawn says why a resource is not offered at all; the policy is disabled or degraded. Both are empty when it is.
func (c *calculation) withdrawn(k kind) (policy, reason string) {
	switch {
	case c.disabled:
		return policyDisabled, reasonDisabled
	case !c.metric.trusted() && k.mid:
		return policyDegraded, reasonDegradedMid
	case !c.metric.trusted():
		return policyDegraded, reasonDegradedBatch
	case c.unenforced != "":
		return policyDegraded, c.unenforcedReason()
	case !c.held.IsZero():
		return policyDegraded, c.heldReason()
	case c.unreadable != "":
		return policyDegraded, c.unreadable
	}
	return "", ""
}

// policy is the calculate policy in force for a resource.
func (c *calculation) policy(k kind) string {
	if policy, _ := c.withdrawn(k); policy != "" {
		return policy
	}
	strategy := &c.in.Strategy.Strategy
	if k.mid {
		if orDefault(strategy.MidReclaimMode, "") == configuration.MidReclaimModeStatic {
			return policyStatic
		}
		return policyPredicted
	}
	policy := orDefault(strategy.MemoryCalculatePolicy, configuration.CalculateByPodUsage)
	if k.cpu {
		policy = orDefault(strategy.CPUCalculatePolicy, configuration.CalculateByPodUsage)
		if policy == configuration.CalculateByPodRequest {
			// The request policy exists for memory only.
			policy = configuration.CalculateByPodUsage
		}
	}
	switch policy {
	case configuration.CalculateByPodRequest, configuration.CalculateByPodMaxUsageRequest:
		return string(policy)
	}
	return string(configuration.CalculateByPodUsage)
}

// unknown says why a resource cannot be computed; empty when all that it depends on was read. A resource that is withdrawn
// depends on nothing more than what withdraws it.
func (c *calculation) unknown(k kind) string {
	missing := c.in.Unknown
	switch {
	case missing.Has(unknown.Configuration):
		return missing.Because(unknown.Configuration)
	case c.disabled:
		return ""
	case missing.Has(unknown.NodeMetrics):
		return missing.Because(unknown.NodeMetrics)
	}
	policy := c.policy(k)
	switch policy {
	case policyDegraded, policyStatic:
		return ""
	}
	if why := missing.Because(unknown.Pods); why != "" {
		return why
	}
	chosen, err := c.in.Strategy.Strategy.Predictor()
	predicted := k.mid && chosen.Mid != "" || !k.mid && chosen.Batch != "" && policy != string(configuration.CalculateByPodRequest)
	if err == nil && predicted {
		return missing.Because(unknown.Predictions)
	}
	return ""
}

// value computes one resource.
func (c *calculation) value(k kind) Value {
	if why := c.unknown(k); why != "" {
		return Value{Unknown: why}
	}
	w := c.trace.begin(k)
	value := c.follow(k, &w)
	if c.trace != nil {
		c.trace.end(k, c.policy(k), &w)
	}
	return value
}

// follow takes the steps to one resource that can be computed.
func (c *calculation) follow(k kind, w *waterfall.Waterfall) Value {
	if policy, reason := c.withdrawn(k); policy != "" {
		c.explainWithdrawn(w.Step(diagnosticsv1alpha1.Start, policy, 0, ""), k, reason)
		c.trace.said(reason)
		return Value{Withdrawn: true, Reason: reason}
	}
	if k.mid {
		return c.mid(k, w)
	}
	return c.batch(k, w)
}

// offer is what a waterfall came to, with a note of how much of it the node does not have.
func (c *calculation) offer(k kind, w *waterfall.Waterfall, origin int64) Value {
	over := max(waterfall.Add(w.Value(), -k.of(c.capacity.Total)), 0)
	if over > 0 {
		c.explainOverCapacity(w.Step(diagnosticsv1alpha1.Info, "overCapacity", over, ""), k)
	}
	return Value{Value: w.Value(), Origin: origin, OverCapacity: over}
}

// systemUse is what the node uses beside pods: measured, with applications outside of Kubernetes above the tier, but at
// least what is reserved.
func (c *calculation) systemUse(k kind) int64 {
	apps := hostApplications(c.in.Metric, k.mid, nil)
	return max(waterfall.Add(k.of(c.metric.system), k.of(apps)), k.of(c.reserved))
}
