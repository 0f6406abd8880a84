package queryhint

import (
	"slices"
	"sync"
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
// The zero value is empty. It is safe for concurrent use.
type recentHints struct {
	mu    sync.Mutex
	hints []recentHint
}

// add remembers a hint. Of too many, the oldest is forgotten.
func (r *recentHints) add(one recentHint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.hints) == mostRecent {
		r.hints = slices.Delete(r.hints, 0, mostRecent/10)
	}
	r.hints = append(r.hints, one)
}

// mayHave is true where the hint of a pod that was created at a time may be remembered.
func (r *recentHints) mayHave(created time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.hints) > 0 && !created.Before(r.hints[0].at.Add(-skew))
}

// waiting are the hints of a group whose pods have no node. Those whose pods are bound, and those that are too old, are forgotten.
func (r *recentHints) waiting(of group, bound map[string]bool, now time.Time) []recentHint {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hints = slices.DeleteFunc(r.hints, func(one recentHint) bool {
		return now.Sub(one.at) > boundWithin || one.group == of && bound[one.id]
	})
	var out []recentHint
	for i := range r.hints {
		if r.hints[i].group == of {
			out = append(out, r.hints[i])
		}
	}
	return out
}
