package quota

import "slices"

// Plan is who has to go for a quota to use no more than it may, in order.
type Plan struct {
	// Over is by how much the quota exceeds its runtime, for each resource that it exceeds.
	Over Amounts `json:"over,omitempty"`
	// Steps in the order of eviction.
	Steps []Step `json:"steps,omitempty"`
	// Remaining excess after all steps: what is left is used by pods that must not be evicted.
	Remaining Amounts `json:"remaining,omitempty"`
}

// Step is one eviction.
type Step struct {
	// Candidate is an index into the pods that the plan was made from.
	Candidate int `json:"candidate"`
	// Over is the excess after the eviction.
	Over Amounts `json:"over,omitempty"`
}

// Overused is by how much a quota exceeds its runtime, of the resources that it limits.
func Overused(used, runtime Amounts) Amounts {
	var over Amounts
	for _, limit := range runtime {
		if value, _ := used.Get(limit.Resource); value > limit.Value {
			over = append(over, Amount{limit.Resource, value - limit.Value})
		}
	}
	return over
}

// Revoke plans which pods of a quota are evicted until it is within its runtime: the least important ones first, never a
// non-preemptible one, none that uses nothing of what is exceeded, and none that could have stayed once the others are gone.
func Revoke(used, runtime Amounts, pods []Candidate) Plan {
	plan := Plan{Over: Overused(used, runtime)}
	order := byImportance(pods)
	slices.Reverse(order)
	left := slices.Clone(plan.Over)
	var chosen []int
	for _, i := range order {
		if !pods[i].Holding.NonPreemptible && pods[i].Holding.Assigned && relieves(left, pods[i].Holding.Request) {
			left = less(left, pods[i].Holding.Request)
			chosen = append(chosen, i)
		}
	}
	chosen = spare(plan.Over, pods, chosen)
	left = plan.Over
	for _, i := range chosen {
		left = less(left, pods[i].Holding.Request)
		plan.Steps = append(plan.Steps, Step{Candidate: i, Over: exceeding(left)})
	}
	plan.Remaining = exceeding(left)
	return plan
}

// relieves is true when a pod uses something of what is still exceeded.
func relieves(left, request Amounts) bool {
	for _, over := range left {
		if value, _ := request.Get(over.Resource); over.Value > 0 && value > 0 {
			return true
		}
	}
	return false
}

// less subtracts a request from an excess, which then may be negative.
func less(over, request Amounts) Amounts {
	left := slices.Clone(over)
	for i := range left {
		value, _ := request.Get(left[i].Resource)
		left[i].Value -= value
	}
	return left
}

func exceeding(over Amounts) Amounts {
	return slices.DeleteFunc(slices.Clone(over), func(a Amount) bool { return a.Value <= 0 })
}

// spare drops pods, the most important first, that need not go because the others free enough.
func spare(over Amounts, pods []Candidate, chosen []int) []int {
	left := over
	for _, i := range chosen {
		left = less(left, pods[i].Holding.Request)
	}
	kept := make([]bool, len(chosen))
	for position := len(chosen) - 1; position >= 0; position-- {
		if request := pods[chosen[position]].Holding.Request; needless(left, request) {
			kept[position], left = true, more(left, request)
		}
	}
	var needed []int
	for position, i := range chosen {
		if !kept[position] {
			needed = append(needed, i)
		}
	}
	return needed
}

// needless is true when no resource is exceeded, or exceeded by more, with the request back.
func needless(left, request Amounts) bool {
	return !slices.ContainsFunc(left, func(over Amount) bool {
		value, _ := request.Get(over.Resource)
		return value > 0 && over.Value > -value
	})
}

func more(over, request Amounts) Amounts {
	left := slices.Clone(over)
	for i := range left {
		value, _ := request.Get(left[i].Resource)
		left[i].Value += value
	}
	return left
}
