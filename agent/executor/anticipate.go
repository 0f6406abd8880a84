package executor

import (
	"cmp"
	"maps"
	"slices"
	"sync"

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
// they do not know yet. What they declare goes before. Nil takes it back. Nothing is written before Apply, and an Apply that is under
// way is not waited for.
func (e *Executor) Anticipate(name string, wishes map[string][]Wish) { e.ahead.set(name, wishes) }

// anticipation is wishes by the name they were given, and by owner. Its zero value is empty, and it is safe for concurrent use.
type anticipation struct {
	mu     sync.Mutex
	wishes map[string]map[string][]Wish
}

func (a *anticipation) set(name string, wishes map[string][]Wish) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if wishes == nil {
		delete(a.wishes, name)
		return
	}
	if a.wishes == nil {
		a.wishes = map[string]map[string][]Wish{}
	}
	a.wishes[name] = wishes
}

func (a *anticipation) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.wishes)
}

// after returns all that owners declare, and after that what is anticipated. Nothing of it must be changed.
func (a *anticipation) after(declared map[string][]Wish) map[string][]Wish {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.wishes) == 0 {
		return declared
	}
	out := maps.Clone(declared)
	for _, name := range slices.Sorted(maps.Keys(a.wishes)) {
		for owner, wishes := range a.wishes[name] {
			out[owner] = slices.Concat(out[owner], wishes)
		}
	}
	return out
}
