package eviction

import (
	"fmt"

	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/podrequest"
)

const (
	// dangerPercent of the memory, or dangerBytes where that is less, is what is left of a node in danger: the kernel is about to kill a
	// process that it chooses itself, which may be one of a service.
	dangerPercent = 3
	dangerBytes   = 4 << 30
	// DangerReadings is how many readings in a row have to find a node in danger before a disruption budget is overridden.
	DangerReadings = 5
)

// Danger is what decides whether a pod may be taken although a PodDisruptionBudget protects it.
type Danger struct {
	// Allowed says that it may at all.
	Allowed bool `json:"allowed,omitempty"`
	// Readings in a row, the latest included, that found the node in danger. See InDanger.
	Readings int `json:"readings,omitempty"`
}

// Refusal is what became of asking for the eviction of a pod a moment ago.
type Refusal string

// Refusals. One that has another cause than a budget never leads to one being overridden.
const (
	NotRefused     Refusal = ""
	RefusedBudget  Refusal = "budget"
	RefusedFailure Refusal = "failure"
	// RefusedCluster is for the budget of all node agents together.
	RefusedCluster Refusal = "cluster-budget"
)

// Reason of not asking again yet.
func (r Refusal) Reason() string {
	switch r {
	case RefusedBudget:
		return "a PodDisruptionBudget protected it a moment ago"
	case RefusedCluster:
		return "the eviction budget of the cluster was used up a moment ago"
	}
	return "its last eviction failed less than a moment ago"
}

// InDanger reports whether less than 3 % of the memory of a node is left, or less than 4 GiB where that is less. A node that was not
// measured is not in danger.
func InDanger(capacityOf, used podrequest.Amount) bool {
	total := capacityOf.Memory
	return total > 0 && used.Memory > 0 && total-used.Memory < dangerLine(total)
}

func dangerLine(total int64) int64 { return min(capacity.Percent(total, dangerPercent), dangerBytes) }

// override takes the one pod that would go first of those that budgets protect, and says so. It does only for use of memory, on a node
// in danger for long enough, and when every pod that the feature may take was refused for a budget and none is leaving. It returns
// the protected pods when it takes one.
func (e *engine) override(s selector, out *Outcome) []Candidate {
	if resource := out.Feature.Resource(); resource != Memory || out.Feature.ofRequests() || out.Pending > 0 {
		return nil
	}
	s.among = RefusedBudget
	protected, _ := s.candidates(e.in.Pods, e.gone)
	if len(protected) == 0 {
		return nil
	}
	for _, other := range []Refusal{RefusedFailure, RefusedCluster} {
		s.among = other
		if refused, _ := s.candidates(e.in.Pods, e.gone); len(refused) > 0 {
			return nil
		}
	}
	why := fmt.Sprintf("PodDisruptionBudgets protect all %d pods that may be evicted", len(protected))
	left := e.in.Node.Capacity.Memory - e.in.Node.Used.Memory
	switch {
	case !InDanger(e.in.Node.Capacity, e.in.Node.Used):
		out.Held = fmt.Sprintf("%s, and %d bytes of memory are left: they are overridden below %d", why, left, dangerLine(e.in.Node.Capacity.Memory))
	case !e.in.Danger.Allowed:
		out.Held = why + ", and the agent may not override them: evictInDanger is off"
	case e.in.Danger.Readings < DangerReadings:
		out.Held = fmt.Sprintf("%s: they are overridden after %d readings in danger, and there were %d", why, DangerReadings, e.in.Danger.Readings)
	case !e.left.take():
		out.Held = e.left.reason
	default:
		first := &protected[0]
		out.Released += first.Frees
		first.Victim, first.Released = true, out.Released
		e.gone[first.index] = true
		out.Held = "one pod at a time is evicted against a PodDisruptionBudget"
		e.plan.Victims = append(e.plan.Victims, Victim{
			Pod: first.Pod, Feature: out.Feature, Reason: out.Reason, Frees: first.Frees, Unit: string(out.Unit), Keys: first.Keys,
			Override: fmt.Sprintf("%s, and only %d bytes of memory are left for %d readings", why, left, e.in.Danger.Readings),
		})
		return protected
	}
	return nil
}
