package executor

import (
	"cmp"
	"maps"
	"slices"

	"koordinator.sh/koord/agent/host/cgroup"
)

// Settle returns what each thing gets of what owners want, the one that ranks highest first. Nothing is read or written. Values are
// as they read back; those that no kernel takes are failures.
func Settle(version cgroup.Version, owners []string, wishes map[string][]Wish) ([]Wish, []Failure) {
	chosen := map[target]choice{}
	failures := merge(chosen, owners, wishes, canonicalIn(version))
	out := make([]Wish, 0, len(chosen))
	for t, c := range chosen {
		out = append(out, Wish{Setting: t.setting, Cgroup: t.of, Value: c.value, Why: c.why, Inherited: c.inherited})
	}
	slices.SortFunc(out, func(a, b Wish) int {
		return cmp.Or(cmp.Compare(a.Cgroup, b.Cgroup), cmp.Compare(a.Setting.Rank(), b.Setting.Rank()), cmp.Compare(a.Setting.Key(), b.Setting.Key()))
	})
	return out, failures
}

// Anticipate has owners want more than they declare, under a name that takes it back: for what was started since they declared, and
// they do not know yet. What they declare goes before. Nil takes it back. Nothing is written before Apply.
func (e *Executor) Anticipate(name string, wishes map[string][]Wish) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if wishes == nil {
		delete(e.anticipated, name)
		return
	}
	if e.anticipated == nil {
		e.anticipated = map[string]map[string][]Wish{}
	}
	e.anticipated[name] = wishes
}

// all that owners declare, and after that what is anticipated.
func (e *Executor) all() map[string][]Wish {
	if len(e.anticipated) == 0 {
		return e.wishes
	}
	out := maps.Clone(e.wishes)
	for _, name := range slices.Sorted(maps.Keys(e.anticipated)) {
		for owner, wishes := range e.anticipated[name] {
			out[owner] = slices.Concat(out[owner], wishes)
		}
	}
	return out
}
