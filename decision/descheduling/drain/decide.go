package drain

import (
	"fmt"

	policyv1 "k8s.io/api/policy/v1"

	"koordinator.sh/koord/decision/descheduling/disruption"
)

// Verdict is when each pod is evicted.
type Verdict struct {
	// Evictions of the pods of the input, by their index.
	Evictions []Eviction
	// Budgets that cover pods that are evicted, in the order of the input.
	Budgets []Budget
	// Rounds that the evictions take.
	Rounds int
}

// Eviction is when a pod is evicted.
type Eviction struct {
	// Round from 1; 0 for a pod that stays or is never evicted.
	Round int
	// Budget that covers the pod; nil when none does.
	Budget *policyv1.PodDisruptionBudget
	// Blocked says why the pod is never evicted; empty for others.
	Blocked string
}

// Budget is what a PodDisruptionBudget does to the drain.
type Budget struct {
	*policyv1.PodDisruptionBudget
	// Pods that leave under it, Blocked of them never, and the rounds that the others take.
	Pods, Blocked, Rounds int
	// Message says what the pods wait for, and until when.
	Message string
}

// Decide says in which round each pod is evicted. Kubectl drain asks for the eviction of all pods at once and again every few seconds. The
// first round are the evictions that the budgets allow now. Each further round begins when the replacements of the pods before are ready,
// as they let as many more go. Where none of them gets a node, the others are blocked. Pods that become ready for another reason are not
// foreseen.
func Decide(in Input) Verdict {
	verdict := Verdict{Evictions: make([]Eviction, len(in.Pods))}
	waiting := map[*policyv1.PodDisruptionBudget][]int{}
	covered := map[*policyv1.PodDisruptionBudget]int{}
	for i := range in.Pods {
		if !in.Pods[i].Evict {
			continue
		}
		eviction := &verdict.Evictions[i]
		budgets := disruption.Selecting(in.Pods[i].Pod, in.Budgets)
		if len(budgets) > 0 {
			eviction.Budget = budgets[0]
			covered[budgets[0]]++
		}
		switch {
		case len(budgets) == 0 || disruption.Exempt(in.Pods[i].Pod):
			eviction.Round = 1
		case len(budgets) > 1:
			eviction.Blocked = disruption.Ambiguous(budgets)
		case disruption.Free(in.Pods[i].Pod, budgets[0]):
			eviction.Round = 1
		default:
			waiting[budgets[0]] = append(waiting[budgets[0]], i)
		}
	}
	for i := range in.Budgets {
		budget := &in.Budgets[i]
		if covered[budget] == 0 {
			continue
		}
		verdict.pass(budget, waiting[budget], in.Unplaced)
		verdict.Budgets = append(verdict.Budgets, verdict.budget(budget, covered[budget]))
	}
	for _, eviction := range verdict.Evictions {
		verdict.Rounds = max(verdict.Rounds, eviction.Round)
	}
	return verdict
}

// pass lets the pods that wait for a budget go, round by round.
func (v *Verdict) pass(budget *policyv1.PodDisruptionBudget, waiting []int, unplaced map[int]bool) {
	if refused := disruption.Unprocessed(budget); refused != "" {
		v.block(waiting, refused)
		return
	}
	allowed := int(max(budget.Status.DisruptionsAllowed, 0))
	for round := 1; len(waiting) > 0; round++ {
		if allowed == 0 {
			v.block(waiting, exhausted(budget, round))
			return
		}
		leaving := waiting[:min(allowed, len(waiting))]
		waiting, allowed = waiting[len(leaving):], allowed-len(leaving)
		for _, i := range leaving {
			v.Evictions[i].Round = round
			if !unplaced[i] {
				allowed++
			}
		}
	}
}

func (v *Verdict) block(pods []int, why string) {
	for _, i := range pods {
		v.Evictions[i].Blocked = why
	}
}

// exhausted says why a budget allows nothing more from a round on, and what would change it.
func exhausted(budget *policyv1.PodDisruptionBudget, round int) string {
	status := budget.Status
	switch {
	case round > 1:
		return fmt.Sprintf("PodDisruptionBudget %s allows no more disruption: no node takes replacements of the pods that were evicted before", budget.Name)
	case status.ExpectedPods <= status.DesiredHealthy:
		return fmt.Sprintf("PodDisruptionBudget %s never allows a disruption: it needs %d healthy pods of %d", budget.Name, status.DesiredHealthy, status.ExpectedPods)
	default:
		return fmt.Sprintf("PodDisruptionBudget %s allows no disruption until %d more of its pods are healthy: it needs %d of %d and has %d",
			budget.Name, max(status.DesiredHealthy+1-status.CurrentHealthy, 1), status.DesiredHealthy, status.ExpectedPods, status.CurrentHealthy)
	}
}

// budget sums up what became of the pods of a budget.
func (v *Verdict) budget(object *policyv1.PodDisruptionBudget, pods int) Budget {
	out := Budget{PodDisruptionBudget: object, Pods: pods}
	for _, eviction := range v.Evictions {
		if eviction.Budget != object {
			continue
		}
		out.Rounds = max(out.Rounds, eviction.Round)
		if eviction.Blocked != "" {
			out.Blocked++
			out.Message = eviction.Blocked
		}
	}
	switch {
	case out.Blocked > 0:
	case out.Rounds > 1:
		out.Message = fmt.Sprintf("allows %d at a time: the pods leave in %d rounds, each once the replacements before are ready", object.Status.DisruptionsAllowed, out.Rounds)
	default:
		out.Message = "allows all at once"
	}
	return out
}
