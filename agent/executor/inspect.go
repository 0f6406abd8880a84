package executor

import (
	"cmp"
	"slices"
	"time"
)

// Target is one setting of one cgroup, of the machine or of a process, and who wants what of it.
type Target struct {
	// Setting by its key, and what it is Of: a cgroup, or as a DesiredValue names it.
	Setting, Of string
	// Owner whose value counts, its Value as version 1 has it, and Why.
	Owner, Value, Why string
	// Outranked are the owners of a lower rank that want another value.
	Outranked []string
	// Observed is the value that was last seen there, at Verified; empty before the first look.
	Observed string
	Verified time.Time
	// Effective is what is there right now, and Err why that could not be read. Only Inspect fills them in.
	Effective string
	Err       error
}

// InForce is true when the value that was last seen is the one wanted.
func (t *Target) InForce() bool { return !t.Verified.IsZero() && t.Observed == t.Value }

// Targets lists what is declared, ordered by what it is of and setting. It reads no file.
func (e *Executor) Targets() []Target { return e.inspect(func(string) bool { return false }) }

// Inspect is Targets with what is there right now of those whose Of is asked for.
func (e *Executor) Inspect(asked func(of string) bool) []Target { return e.inspect(asked) }

func (e *Executor) inspect(asked func(of string) bool) []Target {
	e.mu.Lock()
	defer e.mu.Unlock()
	chosen := map[target]choice{}
	_ = merge(chosen, e.options.Owners, e.desired, e.canonical.of) // Apply reports failures
	outranked := e.outranked(chosen)
	reader := &pass{executor: e}
	out := make([]Target, 0, len(chosen))
	for t, wanted := range chosen {
		found := Target{Setting: t.setting.Key(), Of: t.of, Owner: wanted.owner, Value: wanted.value, Why: wanted.why, Outranked: outranked[t]}
		if h := e.managed[t]; h != nil && !h.inherited {
			found.Observed, found.Verified = h.value, h.verified
		}
		if asked(t.of) {
			found.Effective, _, found.Err = reader.read(t)
		}
		out = append(out, found)
	}
	slices.SortFunc(out, func(a, b Target) int { return cmp.Or(cmp.Compare(a.Of, b.Of), cmp.Compare(a.Setting, b.Setting)) })
	return out
}

// outranked are the owners whose values lost. The lock is held.
func (e *Executor) outranked(chosen map[target]choice) map[target][]string {
	out := map[target][]string{}
	for _, owner := range e.options.Owners {
		for _, desired := range e.desired[owner] {
			t := target{desired.Setting, desired.Cgroup}
			wanted, isChosen := chosen[t]
			if !isChosen || wanted.owner == owner || slices.Contains(out[t], owner) {
				continue
			}
			if value, err := e.canonical.of(desired.Setting, desired.Value); err == nil && value != wanted.value {
				out[t] = append(out[t], owner)
			}
		}
	}
	return out
}
