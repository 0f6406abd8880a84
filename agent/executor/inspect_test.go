package executor

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"koordinator.sh/koord/agent/host/cgroup"
)

func TestWhatIsWantedIsListedWithWhatIsThere(t *testing.T) {
	onBoth(t, func(f *fixture) {
		f.declare("first", cpus("0-1", bestEffort, pod)...)
		f.declare("second", append(cpus("0-3", pod, container), DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "2"})...)
		ignored := cmpopts.IgnoreFields(Target{}, "Why", "Verified", "Err")
		want := []Target{
			{Setting: "cpuset.cpus", Of: bestEffort, Owner: "first", Value: "0-1"},
			{Setting: "cpu.shares", Of: pod, Owner: "second", Value: "2"},
			{Setting: "cpuset.cpus", Of: pod, Owner: "first", Value: "0-1", Outranked: []string{"second"}},
			{Setting: "cpuset.cpus", Of: container, Owner: "second", Value: "0-3"},
		}
		got := f.executor.Targets()
		if diff := cmp.Diff(want, got, ignored); diff != "" {
			t.Errorf("before anything was written (-want +got):\n%s", diff)
		}
		if got[0].InForce() {
			t.Error("in force before anything was written")
		}
		f.declare("second", cpus("0-1", container)...)
		f.executor.Apply(t.Context())
		got = f.executor.Inspect(func(of string) bool { return of == bestEffort })
		want = []Target{
			{Setting: "cpuset.cpus", Of: bestEffort, Owner: "first", Value: "0-1", Observed: "0-1", Effective: "0-1"},
			{Setting: "cpuset.cpus", Of: pod, Owner: "first", Value: "0-1", Observed: "0-1"},
			{Setting: "cpuset.cpus", Of: container, Owner: "second", Value: "0-1", Observed: "0-1"},
		}
		if diff := cmp.Diff(want, got, ignored); diff != "" || !got[0].InForce() {
			t.Errorf("after it was written (-want +got):\n%s", diff)
		}
	})
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	onBoth(t, func(f *fixture) {
		f.declare("first", cpus("0-1", pod+"gone")...)
		if got := f.executor.Inspect(func(string) bool { return true }); len(got) != 1 || got[0].Err == nil || got[0].InForce() {
			t.Errorf("got %+v", got)
		}
	})
}
