package executor

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"koordinator.sh/koord/agent/host/cgroup"
)

// Resolve returns what each thing gets of what owners want, the one that ranks highest first. Nothing is read or written. Values are
// as they read back; those that no kernel takes are failures.
func Resolve(version cgroup.Version, owners []string, values map[string][]DesiredValue) ([]DesiredValue, []Failure) {
	chosen := map[target]choice{}
	failures := merge(chosen, owners, values, canonicalIn(version))
	out := make([]DesiredValue, 0, len(chosen))
	for t, c := range chosen {
		out = append(out, DesiredValue{Setting: t.setting, Cgroup: t.of, Value: c.value, Why: c.why, Inherited: c.inherited})
	}
	slices.SortFunc(out, func(a, b DesiredValue) int {
		return cmp.Or(cmp.Compare(a.Cgroup, b.Cgroup), cmp.Compare(a.Setting.Rank(), b.Setting.Rank()), cmp.Compare(a.Setting.Key(), b.Setting.Key()))
	})
	return out, failures
}

// DeclarePending has owners want more than they declare, under a name that takes it back: for what was started since they declared, and
// they do not know yet. What they declare goes before. Nil takes it back. Nothing is written before Apply, and an Apply that is under
// way is not waited for.
func (e *Executor) DeclarePending(name string, values map[string][]DesiredValue) {
	e.pending.set(name, values)
}

// pendingValues are desired values by the name they were given, and by owner. Its zero value is empty, and it is safe for concurrent use.
type pendingValues struct {
	mu     sync.Mutex
	values map[string]map[string][]DesiredValue
}

func (a *pendingValues) set(name string, values map[string][]DesiredValue) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if values == nil {
		delete(a.values, name)
		return
	}
	if a.values == nil {
		a.values = map[string]map[string][]DesiredValue{}
	}
	a.values[name] = values
}

func (a *pendingValues) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.values)
}

// after returns all that owners declare, and after that what is anticipated. Nothing of it must be changed.
func (a *pendingValues) after(declared map[string][]DesiredValue) map[string][]DesiredValue {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.values) == 0 {
		return declared
	}
	out := maps.Clone(declared)
	for _, name := range slices.Sorted(maps.Keys(a.values)) {
		for owner, values := range a.values[name] {
			out[owner] = slices.Concat(out[owner], values)
		}
	}
	return out
}
