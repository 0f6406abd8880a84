package quota

import (
	"cmp"
	"slices"
)

// Candidate is a pod that may have to give way.
type Candidate struct {
	// Name orders candidates that are alike otherwise: NAMESPACE/NAME or a UID.
	Name     string
	Priority int32
	// Started is when the pod started, in nanoseconds since 1970.
	Started int64
	// Done is how many quarters of its job's work are done by what was predicted of it, from 0 to 3; 0 for a pod of which nothing was.
	Done    int
	Holding Holding
	// Budgeted pods are evicted against a disruption budget.
	Budgeted bool
}

// compareImportance puts the most important first: the higher priority, then what would lose more of its work, then the longer running time. How far
// a job is comes before when it started, because work is what the running time stands for; where nothing was predicted, it decides alone.
func compareImportance(a, b *Candidate) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(b.Done, a.Done), cmp.Compare(a.Started, b.Started), cmp.Compare(a.Name, b.Name))
}

// Sparing is why a pod does not give way to another one, in words that follow "is"; empty when it does.
type Sparing string

// Why pods do not give way.
const (
	SparedByQuota       Sparing = "of another quota"
	SparedByImportance  Sparing = "with the same or higher priority"
	SparedByPreemptible Sparing = "not preemptible"
)

// Spared says why a candidate does not give way to a pod of the given priority in a quota: only less important pods of the
// same quota do, and only those that are preemptible.
func Spared(priority int32, quota string, candidate *Candidate, candidateQuota string) Sparing {
	switch {
	case quota != candidateQuota:
		return SparedByQuota
	case candidate.Priority >= priority:
		return SparedByImportance
	case candidate.Holding.NonPreemptible:
		return SparedByPreemptible
	}
	return ""
}

// Eligible reports whether a pod of the given priority in a quota may take the place of a candidate of another, or the same,
// quota.
func Eligible(priority int32, quota string, candidate *Candidate, candidateQuota string) bool {
	return Spared(priority, quota, candidate, candidateQuota) == ""
}

// Trial is a place on which a pod is tried without some others.
type Trial interface {
	// Remove takes a candidate away, Return puts it back.
	Remove(candidate int) error
	Return(candidate int) error
	// Fits reports whether the pod fits now.
	Fits() bool
}

// Victims chooses which candidates have to go for the trial to fit: none that could stay, and the least important ones. All
// are taken away first, then returned one by one, those with a disruption budget before the others and the most important
// before the rest. The result is in order of importance, and nil when not even all of them would do. Budgeted counts those
// that go against a budget.
func Victims(candidates []Candidate, trial Trial) (victims []int, budgeted int, err error) {
	for i := range candidates {
		if err := trial.Remove(i); err != nil {
			return nil, 0, err
		}
	}
	if len(candidates) == 0 || !trial.Fits() {
		return nil, 0, nil
	}
	order := byImportance(candidates)
	slices.SortStableFunc(order, func(a, b int) int { return rankBudget(candidates[a]) - rankBudget(candidates[b]) })
	for _, i := range order {
		if err := trial.Return(i); err != nil {
			return nil, 0, err
		}
		if trial.Fits() {
			continue
		}
		if err := trial.Remove(i); err != nil {
			return nil, 0, err
		}
		victims = append(victims, i)
		budgeted += 1 - rankBudget(candidates[i])
	}
	slices.SortFunc(victims, func(a, b int) int { return compareImportance(&candidates[a], &candidates[b]) })
	return victims, budgeted, nil
}

func rankBudget(candidate Candidate) int {
	if candidate.Budgeted {
		return 0
	}
	return 1
}

func byImportance(candidates []Candidate) []int {
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compareImportance(&candidates[a], &candidates[b]) })
	return order
}
