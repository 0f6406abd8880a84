package executor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/decision/core/cpuset"
)

// errKilled stands for the end of the process between two writes.
var errKilled = fmt.Errorf("killed")

// killedAfter ends everything after a number of writes.
func (f *fixture) killedAfter(writes int) (killed bool) {
	ctx, cancel := context.WithCancelCause(f.Context())
	defer cancel(nil)
	done := 0
	f.kernel.Fail(func(operation, _ string) error {
		if operation != "write" {
			return nil
		}
		if done++; done >= writes {
			cancel(errKilled) // this write is done yet
		}
		return nil
	})
	_, err := f.executor.Apply(ctx)
	f.kernel.Fail(nil)
	return err != nil
}

func TestWhatWasThereReturnsAfterACrashAtAnyWrite(t *testing.T) {
	onBoth(t, func(f *fixture) {
		for writes := 1; ; writes++ {
			g := newFixture(f.T, f.version)
			before := g.kernel.Dump()
			g.declare("first", cpus("0-3", bestEffort, pod, container)...)
			g.apply(3, 0)
			g.restart() // by kill, too: nothing is restored
			g.declare("first", append(cpus("2-5", bestEffort, pod, container), DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "2"})...)
			killed := g.killedAfter(writes)
			g.restart()
			g.declare("first", cpus("1-2", bestEffort, pod, container)...)
			if outcome, err := g.executor.Apply(t.Context()); err != nil || len(outcome.Failures) > 0 {
				t.Fatalf("killed after %d writes: %v, %v", writes, outcome.Failures, err)
			}
			g.want(cgroup.CPUSet, container, "1-2")
			if outcome, err := g.executor.Restore(t.Context()); err != nil || len(outcome.Failures) > 0 {
				t.Fatalf("killed after %d writes: %v, %v", writes, outcome.Failures, err)
			}
			if diff := cmp.Diff(before, g.kernel.Dump()); diff != "" {
				t.Fatalf("killed after %d writes, something is left (-before +after):\n%s", writes, diff)
			}
			if !killed {
				return
			}
		}
	})
}

// TestNoCgroupEverHasMoreThanTheOneAbove moves random trees from one assignment of CPUs to another.
func TestNoCgroupEverHasMoreThanTheOneAbove(t *testing.T) {
	all := []string{"kubepods", bestEffort, pod, container, bestEffort + "/pod2", bestEffort + "/pod2/c", bestEffort + "/pod2/d", "kubepods/pod3"}
	for _, version := range []cgroup.Version{cgroup.V1, cgroup.V2} {
		rapid.Check(t, func(r *rapid.T) {
			f := newFixture(t, version)
			for _, at := range all {
				f.kernel.Make(at)
			}
			before := f.kernel.Dump()
			for round := range 3 {
				wanted := drawCPUs(r, all, round)
				f.kernel.Fail(func(operation, _ string) error { return nil })
				var values []DesiredValue
				for _, at := range slices.Sorted(maps.Keys(wanted)) {
					values = append(values, cpus(wanted[at].String(), at)...)
				}
				f.declare("second", values...)
				outcome, err := f.executor.Apply(t.Context())
				if err != nil || len(outcome.Failures) > 0 {
					r.Fatalf("%v, %v", outcome.Failures, err)
				}
				f.checkWrites(r)
				for at, set := range wanted {
					f.want(cgroup.CPUSet, at, set.String())
				}
			}
			if outcome, err := f.executor.Restore(t.Context()); err != nil || len(outcome.Failures) > 0 {
				r.Fatalf("restore: %v, %v", outcome.Failures, err)
			}
			if diff := cmp.Diff(before, f.kernel.Dump()); diff != "" {
				r.Fatalf("something is left (-before +after):\n%s", diff)
			}
		})
	}
}

// drawCPUs gives each cgroup some of the CPUs of the one above.
func drawCPUs(r *rapid.T, all []string, round int) map[string]cpuset.CPUSet {
	wanted := map[string]cpuset.CPUSet{}
	for _, at := range all {
		above, limited := wanted[at[:max(strings.LastIndexByte(at, '/'), 0)]]
		if !limited {
			above = cpuset.Of(0, 1, 2, 3, 4, 5, 6, 7)
		}
		label := fmt.Sprintf("cpus of %s in round %d", at, round)
		chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(above.List()), 1, above.Len(), rapid.ID).Draw(r, label)
		wanted[at] = cpuset.Of(chosen...)
	}
	return wanted
}

// checkWrites replays the audit log: after no write may a cgroup have CPUs that its parent does not have.
func (f *fixture) checkWrites(r *rapid.T) {
	has := map[string]cpuset.CPUSet{}
	for _, e := range f.log.After(0, 100) {
		at := strings.TrimPrefix(strings.TrimSuffix(e.Object, "/cpuset.cpus"), "cpuset/")
		set, err := cpuset.Parse(e.New)
		if err != nil {
			r.Fatal(err)
		}
		has[at] = set
		for child, cpus := range has {
			above, known := has[child[:max(strings.LastIndexByte(child, '/'), 0)]]
			if known && !above.ContainsAll(cpus) {
				r.Fatalf("after write %d, %s has CPUs %s, and the cgroup above has %s", e.Number, child, cpus, above)
			}
		}
	}
}
