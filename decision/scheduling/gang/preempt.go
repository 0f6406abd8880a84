package gang

import (
	"cmp"
	"slices"
)

// Candidate is a pod that may have to give way to a gang.
type Candidate struct {
	// Name orders candidates that are alike otherwise.
	Name string
	Node string
	// Priority is less than that of every member.
	Priority int32
	// Started is when the pod started, in nanoseconds since 1970.
	Started int64
	// Done is how many quarters of its job's work are done by what was predicted of it, from 0 to 3; 0 for a pod of which nothing was.
	Done int
	// Budgeted pods are evicted against a disruption budget.
	Budgeted bool
}

// Trial is a cluster in which a gang is tried without some pods.
type Trial interface {
	// Remove takes a candidate away, Return puts it back.
	Remove(candidate int) error
	Return(candidate int) error
	// Place puts members on nodes until enough have one, and keeps them there. It returns the node of each member, empty for
	// one without, and false when too few found one.
	Place() ([]string, bool)
	// Holds reports whether the members placed on a node still fit there; true for a node without any.
	Holds(node string) bool
}

// Plan is how a gang gets room as a whole.
type Plan struct {
	// Nodes of the members in the order in which the trial knows them, empty for those without.
	Nodes []string
	// Victims are candidates by index, the most important first.
	Victims []int
	// Budgeted counts the victims that go against a disruption budget.
	Budgeted int
}

// Preempt chooses which candidates have to go for a whole gang to fit: none that could stay where the members are placed, and
// the least important ones. All are taken away first; once the gang is placed they are returned one by one, those with a
// disruption budget before the others, and the most important before the rest. It returns false when not even all of them
// would do, and when the gang fits without any going.
func Preempt(candidates []Candidate, trial Trial) (Plan, bool, error) {
	for i := range candidates {
		if err := trial.Remove(i); err != nil {
			return Plan{}, false, err
		}
	}
	if len(candidates) == 0 {
		return Plan{}, false, nil
	}
	nodes, placed := trial.Place()
	if !placed {
		return Plan{}, false, nil
	}
	plan := Plan{Nodes: nodes}
	if err := plan.reprieve(candidates, trial); err != nil {
		return Plan{}, false, err
	}
	slices.SortFunc(plan.Victims, func(a, b int) int { return compareImportance(&candidates[a], &candidates[b]) })
	return plan, len(plan.Victims) > 0, nil
}

// reprieve returns every candidate without which the members would still fit where they are placed; the others are victims.
func (p *Plan) reprieve(candidates []Candidate, trial Trial) error {
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compareReturn(&candidates[a], &candidates[b]) })
	for _, i := range order {
		if err := trial.Return(i); err != nil {
			return err
		}
		if trial.Holds(candidates[i].Node) {
			continue
		}
		if err := trial.Remove(i); err != nil {
			return err
		}
		p.Victims = append(p.Victims, i)
		if candidates[i].Budgeted {
			p.Budgeted++
		}
	}
	return nil
}

func compareReturn(a, b *Candidate) int {
	if a.Budgeted != b.Budgeted {
		if a.Budgeted {
			return -1
		}
		return 1
	}
	return compareImportance(a, b)
}

// compareImportance puts the most important first: the higher priority, then what would lose more of its work, then the longer running time. How far
// a job is comes before when it started, because work is what the running time stands for; where nothing was predicted, it decides alone.
func compareImportance(a, b *Candidate) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(b.Done, a.Done), cmp.Compare(a.Started, b.Started), cmp.Compare(a.Name, b.Name))
}
