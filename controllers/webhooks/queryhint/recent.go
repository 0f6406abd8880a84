package queryhint

import (
	"slices"
	"time"

	"koordinator.sh/koord/decision/scheduling/queryhint"
)

const (
	// boundWithin is how long a pod is expected on the node that comes first in its hint.
	boundWithin = 5 * time.Minute
	// mostRecent bounds the hints that are remembered: 100 bytes each.
	mostRecent = 10000
	// skew is how much the clocks of API servers and this process may differ.
	skew = time.Minute
)

// recentHint is a hint for a pod that has no node yet, as far as this process knows.
type recentHint struct {
	group
	id, node string
	role     queryhint.Role
	at       time.Time
}

// recentHints remembers hints until their pods have nodes, so that the pods of a Deployment, which are created within milliseconds, are spread.
// The oldest comes first.
type recentHints []recentHint

// add remembers a hint. Of too many, the oldest is forgotten.
func (r *recentHints) add(one recentHint) {
	if len(*r) == mostRecent {
		*r = slices.Delete(*r, 0, mostRecent/10)
	}
	*r = append(*r, one)
}

// mayHave is true where the hint of a pod that was created at a time may be remembered.
func (r recentHints) mayHave(created time.Time) bool {
	return len(r) > 0 && !created.Before(r[0].at.Add(-skew))
}

// waiting are the hints of a group whose pods have no node. Those whose pods are bound, and those that are too old, are forgotten.
func (r *recentHints) waiting(of group, bound map[string]bool, now time.Time) []recentHint {
	*r = slices.DeleteFunc(*r, func(one recentHint) bool {
		return now.Sub(one.at) > boundWithin || one.group == of && bound[one.id]
	})
	var out []recentHint
	for _, one := range *r {
		if one.group == of {
			out = append(out, one)
		}
	}
	return out
}
