package evictor

import (
	"maps"
	"slices"

	"koordinator.sh/koord/decision/eviction"
)

// Input is what the latest decision was made of, for the same decision to be asked how far it is from evicting. False before the
// first.
func (e *Evictor) Input() (eviction.Input, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.decided == nil {
		return eviction.Input{}, false
	}
	in := *e.decided
	in.LastEviction = maps.Clone(e.last)
	if in.Budget != nil {
		budget := *in.Budget
		budget.Evicted = slices.Clone(e.evicted)
		in.Budget = &budget
	}
	return in, true
}

// Counts are the evictions since the agent was started, by feature.
func (e *Evictor) Counts() map[eviction.Feature]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.counts)
}

// mostKept bounds the evicted pods that are remembered by their names.
const mostKept = 100

// Evicted is a pod that was evicted, and the feature that did it.
type Evicted struct {
	Namespace, Name string
	Feature         eviction.Feature
}

// Evicted are the pods of the latest 100 evictions since the agent was started, the oldest first.
func (e *Evictor) Evicted() []Evicted {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.gone)
}

// keep remembers whom an eviction took. The lock is held.
func (e *Evictor) keep(victim eviction.Victim) {
	if len(e.gone) == mostKept {
		e.gone = slices.Delete(e.gone, 0, 1)
	}
	e.gone = append(e.gone, Evicted{Namespace: victim.Pod.Namespace, Name: victim.Pod.Name, Feature: victim.Feature})
}
