package evictor

import (
	"maps"
	"slices"

	"koordinator.sh/koord/decision/nodeqos/eviction"
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
