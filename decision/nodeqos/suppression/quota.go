package suppression

import (
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cfs"
	"koordinator.sh/koord/decision/core/waterfall"
)

// LeastQuota in microseconds that best-effort pods keep in any case: a fiftieth of a CPU.
const LeastQuota int64 = 2_000

// bypassPercent of the node's CPU is the change that is not worth a write.
const bypassPercent = 1

// QuotaChoice is the quota of all best-effort pods together.
type QuotaChoice struct {
	// Quota in microseconds per period of 100 ms; -1 is none.
	Quota int64 `json:"quota"`
	// Limit that decided it: budget, least, step, bypass or disabled.
	Limit string `json:"limit"`
	// Target is the budget as a quota, Current what is in force.
	Target  int64 `json:"target,omitempty"`
	Current int64 `json:"current,omitempty"`
	// Step is by how much it may grow per round, and Bypass the change below which nothing is written; in microseconds.
	Step   int64 `json:"step,omitempty"`
	Bypass int64 `json:"bypass,omitempty"`
	// Hold says why the present quota stays; empty when Quota is to be written.
	Hold string `json:"hold,omitempty"`
}

// Limits of a quota beside those of a count.
const (
	LimitBypass   = "bypass"
	LimitDisabled = "disabled"
)

// ChooseQuota turns a budget in milli-cores into a quota. Changes of less than one percent of the node are left, unless the
// target is the least quota; growth is at most a tenth of the node at once, unless there was no quota before. A current
// quota that is not positive counts as none.
func ChooseQuota(nodeCapacity, budget, current int64) QuotaChoice {
	whole := cfs.Quota(nodeCapacity)
	out := QuotaChoice{
		Target: max(cfs.Quota(budget), LeastQuota), Current: current, Limit: LimitBudget,
		Step: capacity.Percent(whole, growthPercent), Bypass: capacity.Percent(whole, bypassPercent),
	}
	if out.Target == LeastQuota && cfs.Quota(budget) < LeastQuota {
		out.Limit = LimitLeast
	}
	out.Quota = out.Target
	if current <= 0 {
		return out
	}
	change := out.Target - current
	switch {
	case change == 0:
		out.Hold = "the quota is what it should be"
	case max(change, -change) < out.Bypass && out.Target != LeastQuota:
		out.Quota, out.Limit, out.Hold = current, LimitBypass, "the change is less than one percent of the node"
	case change > out.Step:
		out.Quota, out.Limit = waterfall.Add(current, out.Step), LimitStep
	}
	return out
}

// NoQuota lifts the quota.
func NoQuota(current int64) QuotaChoice {
	out := QuotaChoice{Quota: cfs.Unlimited, Limit: LimitDisabled, Current: current}
	if current == cfs.Unlimited {
		out.Hold = "there is no quota"
	}
	return out
}
