package suppression

import (
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cfs"
)

// Decision is how best-effort pods are held back on one node.
type Decision struct {
	// Enabled is false when nothing is held back.
	Enabled bool `json:"enabled"`
	// Policy in force: cpuset or cfsQuota; empty when disabled.
	Policy slov1alpha1.CPUSuppressPolicy `json:"policy,omitempty"`
	// Hold says why all limits stay as they are; empty when new ones are decided.
	Hold string `json:"hold,omitempty"`
	// Budget of best-effort pods; nil when it was not computed.
	Budget *Budget `json:"budget,omitempty"`
	// CPUs and Quota to write. The one that is not the policy's is lifted, so that a change of policy leaves nothing behind.
	CPUs  CPUChoice   `json:"cpuset"`
	Quota QuotaChoice `json:"quota"`
}

// Decide decides the suppression of one node. A strategy that is off gives all CPUs and no quota, whatever is measured. A
// policy that is not known counts as cpuset, the default. A nil trace records nothing.
func Decide(in Input, trace *Trace) Decision {
	trace.begin()
	if !Enabled(in.Strategy) {
		return Decision{CPUs: AllCPUs(in.CPUs, trace), Quota: NoQuota(in.CurrentQuota)}
	}
	out := Decision{Enabled: true, Policy: policyOf(in.Strategy)}
	out.Hold = in.Measurement.Assess(in.Now)
	if in.Measurement.Capacity <= 0 && out.Hold == "" {
		out.Hold = "the capacity of the node is not known"
	}
	if out.Hold != "" {
		out.CPUs = CPUChoice{Hold: out.Hold}
		out.Quota = QuotaChoice{Quota: in.CurrentQuota, Current: in.CurrentQuota, Hold: out.Hold}
		return out
	}
	budget := BudgetOf(in.Measurement, in.Strategy, trace)
	out.Budget = &budget
	if out.Policy == slov1alpha1.CPUCfsQuotaPolicy {
		out.Quota, out.CPUs = ChooseQuota(in.Measurement.Capacity, budget.Milli, in.CurrentQuota), AllCPUs(in.CPUs, trace)
		return out
	}
	out.CPUs, out.Quota = ChooseCPUs(in.CPUs, budget.Milli, in.CurrentCPUs, trace), NoQuota(in.CurrentQuota)
	return out
}

// Enabled says whether a strategy holds best-effort pods back.
func Enabled(strategy *slov1alpha1.ResourceThresholdStrategy) bool {
	return strategy != nil && strategy.Enable != nil && *strategy.Enable
}

func policyOf(strategy *slov1alpha1.ResourceThresholdStrategy) slov1alpha1.CPUSuppressPolicy {
	if strategy.CPUSuppressPolicy == slov1alpha1.CPUCfsQuotaPolicy {
		return slov1alpha1.CPUCfsQuotaPolicy
	}
	return slov1alpha1.CPUSetPolicy
}

// LeastMilli is what the policy of a strategy leaves to best-effort pods however small the budget, in milli-cores.
func LeastMilli(strategy *slov1alpha1.ResourceThresholdStrategy) int64 {
	if policyOf(strategy) == slov1alpha1.CPUCfsQuotaPolicy {
		return cfs.Milli(LeastQuota)
	}
	return LeastCPUs * 1000
}
