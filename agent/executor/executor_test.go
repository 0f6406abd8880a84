package executor

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/decision/core/cpuset"
)

const (
	bestEffort = "kubepods/besteffort"
	pod        = bestEffort + "/pod1"
	container  = pod + "/c"
)

// fixture is an executor over a kernel of eight CPUs with one best-effort pod.
type fixture struct {
	*testing.T
	kernel   *kernelfs.Tree
	clock    *clocktesting.FakeClock
	log      *audit.Log
	store    checkpoint.File
	executor *Executor
	version  cgroup.Version
}

func newFixture(t *testing.T, version cgroup.Version) *fixture {
	f := &fixture{
		T: t, kernel: kernelfs.New(version, cpuset.Of(0, 1, 2, 3, 4, 5, 6, 7)), log: audit.NewLog(100), version: version,
		clock: clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), store: checkpoint.File{Path: t.TempDir() + "/originals"},
	}
	f.kernel.Make(container)
	f.kernel.Enter(container, 1)
	f.restart()
	return f
}

// restart is what happens when the agent is started again, however it ended.
func (f *fixture) restart() {
	f.Helper()
	executor, err := New(f.options())
	if err != nil {
		f.Fatal(err)
	}
	f.executor = executor
}

func (f *fixture) options() Options {
	return Options{
		Tree: f.kernel, Layout: cgroup.Layout{Version: f.version, Driver: cgroup.Cgroupfs}, Owners: []string{"first", "second"},
		Originals: f.store, Audit: f.log, Clock: f.clock,
	}
}

func (f *fixture) declare(owner string, values ...DesiredValue) {
	f.Helper()
	if err := f.executor.Declare(owner, values); err != nil {
		f.Fatal(err)
	}
}

// apply wants a number of writes and failures.
func (f *fixture) apply(wantWrites, wantFailures int) Outcome {
	f.Helper()
	outcome, err := f.executor.Apply(f.Context())
	if err != nil || outcome.Writes != wantWrites || len(outcome.Failures) != wantFailures {
		f.Fatalf("%d writes, failures %v, %v; want %d writes and %d failures", outcome.Writes, outcome.Failures, err, wantWrites, wantFailures)
	}
	return outcome
}

func (f *fixture) want(setting cgroup.Setting, of, want string) {
	f.Helper()
	path, _ := cgroup.Layout{Version: f.version}.Path(setting, of)
	content, err := f.kernel.Read(path, nil)
	if err != nil {
		f.Fatal(err)
	}
	if got, err := setting.Decode(f.version, string(content)); err != nil || got != want {
		f.Errorf("%s is %q, %v, want %q", path, got, err, want)
	}
}

func cpus(list string, cgroups ...string) []DesiredValue {
	var values []DesiredValue
	for _, at := range cgroups {
		values = append(values, DesiredValue{Setting: cgroup.CPUSet, Cgroup: at, Value: list, Why: "suppressed"})
	}
	return values
}

// onBoth runs a test with either version of cgroups.
func onBoth(t *testing.T, test func(*fixture)) {
	for _, version := range []cgroup.Version{cgroup.V1, cgroup.V2} {
		t.Run(fmt.Sprintf("version %d", version), func(t *testing.T) { test(newFixture(t, version)) })
	}
}

func TestWhatAFeatureWantsComesAndGoesWithIt(t *testing.T) {
	onBoth(t, func(f *fixture) {
		before := f.kernel.Dump()
		f.declare("first", append(cpus("0-1", bestEffort, pod, container),
			DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "2"}, DesiredValue{Setting: cgroup.CPUIdle, Cgroup: pod, Value: "1"},
			DesiredValue{Setting: cgroup.CPUQuota, Cgroup: pod, Value: "50000"}, DesiredValue{Setting: cgroup.CPUBurst, Cgroup: pod, Value: "20000"})...)
		f.apply(7, 0)
		f.want(cgroup.CPUSet, container, "0-1")
		f.want(cgroup.CPUIdle, pod, "1")
		f.want(cgroup.CPUBurst, pod, "20000")
		f.declare("first")
		f.apply(7, 0)
		if diff := cmp.Diff(before, f.kernel.Dump()); diff != "" {
			t.Errorf("something is left (-before +after):\n%s", diff)
		}
		if f.apply(0, 0); len(f.executor.managed) > 0 {
			t.Errorf("still held: %v", f.executor.managed)
		}
	})
}

// TestSharesOutliveThatAGroupIsIdle sets them as kubelet does before: the kernel forgets shares of a group that becomes idle.
func TestSharesOutliveThatAGroupIsIdle(t *testing.T) {
	onBoth(t, func(f *fixture) {
		for of, value := range map[string]string{bestEffort: "2", pod: "3000"} {
			path, _ := cgroup.Layout{Version: f.version}.Path(cgroup.CPUShares, of)
			content, err := cgroup.CPUShares.Encode(f.version, value)
			if err == nil {
				err = f.kernel.Write(path, content)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		before := f.kernel.Dump()
		idle := func(of string) DesiredValue { return DesiredValue{Setting: cgroup.CPUIdle, Cgroup: of, Value: "1"} }
		f.declare("first", idle(bestEffort), idle(pod), DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "512"})
		f.apply(4, 0)
		f.want(cgroup.CPUShares, pod, cgroup.IdleShares)
		f.clock.Step(verifyInterval)
		f.apply(0, 0)
		f.restart()
		f.declare("first")
		f.apply(4, 0)
		if diff := cmp.Diff(before, f.kernel.Dump()); diff != "" {
			t.Errorf("something is left (-before +after):\n%s", diff)
		}
	})
}

func TestNothingIsTouchedWhileNothingChanges(t *testing.T) {
	f := newFixture(t, cgroup.V1)
	f.declare("first", cpus("0-3", bestEffort, pod, container)...)
	f.apply(3, 0)
	reads, writes := f.kernel.Counts()
	for range 50 {
		f.clock.Step(time.Second)
		f.declare("first", cpus("0-3", bestEffort, pod, container)...)
		f.apply(0, 0)
	}
	if r, w := f.kernel.Counts(); r != reads || w != writes {
		t.Errorf("%d reads and %d writes while nothing changed", r-reads, w-writes)
	}
	f.clock.Step(verifyInterval)
	f.apply(0, 0)
	if r, _ := f.kernel.Counts(); r != reads+3 {
		t.Errorf("%d reads to see that values are still there, want 3", r-reads)
	}
}

func TestCPUsMoveWithoutEverLeavingTheCgroupAbove(t *testing.T) {
	onBoth(t, func(f *fixture) {
		f.declare("first", cpus("0-1", bestEffort, pod, container)...)
		f.apply(3, 0)
		f.declare("first", cpus("2-5", bestEffort, pod, container)...)
		f.apply(6, 0) // all have both first
		f.want(cgroup.CPUSet, bestEffort, "2-5")
		f.want(cgroup.CPUSet, container, "2-5")
	})
}

func TestTheOwnerThatRanksHigherIsHeard(t *testing.T) {
	f := newFixture(t, cgroup.V2)
	quota := func(value string) DesiredValue {
		return DesiredValue{Setting: cgroup.CPUQuota, Cgroup: pod, Value: value}
	}
	f.declare("second", quota("20000"))
	f.apply(1, 0)
	f.declare("first", quota("30000"))
	f.apply(1, 0)
	f.want(cgroup.CPUQuota, pod, "30000")
	f.declare("first", quota("12"))
	if got := f.apply(1, 1); got.Failures[0].Owner != "first" {
		t.Errorf("failure %v, want one of the first owner", got.Failures[0])
	}
	f.want(cgroup.CPUQuota, pod, "20000")
	f.declare("first")
	f.declare("second")
	f.apply(1, 0)
	f.want(cgroup.CPUQuota, pod, "-1")
	if err := f.executor.Declare("third", nil); err == nil {
		t.Error("an owner that nobody knows is heard")
	}
}

func TestWhatOthersWriteIsWhatReturns(t *testing.T) {
	f := newFixture(t, cgroup.V1)
	f.declare("first", DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "2"})
	f.apply(1, 0)
	if err := f.kernel.Write("cpu/"+pod+"/cpu.shares", "700"); err != nil { // kubelet resizes the pod
		t.Fatal(err)
	}
	f.apply(0, 0)
	f.clock.Step(verifyInterval)
	f.apply(1, 0)
	f.want(cgroup.CPUShares, pod, "2")
	f.declare("first")
	f.apply(1, 0)
	f.want(cgroup.CPUShares, pod, "700")
}

func TestAValueThatSomebodyElseChangedStaysWhenTheFeatureEnds(t *testing.T) {
	f := newFixture(t, cgroup.V1)
	f.declare("first", DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "2"})
	f.apply(1, 0)
	if err := f.kernel.Write("cpu/"+pod+"/cpu.shares", "700"); err != nil {
		t.Fatal(err)
	}
	f.declare("first")
	f.apply(0, 0)
	f.want(cgroup.CPUShares, pod, "700")
}

func TestRefusalsAreToldAndTriedAgain(t *testing.T) {
	f := newFixture(t, cgroup.V1)
	f.kernel.Fail(func(operation, path string) error {
		if operation == "write" && path == "cpu/"+pod+"/cpu.shares" {
			return syscall.EBUSY
		}
		return nil
	})
	f.declare("first", append(cpus("0", container), DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "2", Why: "idle"})...)
	got := f.apply(1, 1)
	if !errors.Is(got.Failures[0], syscall.EBUSY) {
		t.Errorf("failure %v, want busy", got.Failures[0])
	}
	f.apply(0, 1)
	f.clock.Step(verifyInterval)
	f.apply(0, 1) // the repeated refusal is logged once a minute
	f.kernel.Fail(nil)
	f.clock.Step(maxRetryInterval)
	f.apply(1, 0)
	var entries []string
	for _, e := range f.log.After(0, 10) {
		entries = append(entries, fmt.Sprintf("%d %s %s %s->%s %s %v", e.Number, e.Owner, e.Object, e.Old, e.New, e.Why, e.Error != ""))
	}
	want := []string{
		"1 first cpuset/kubepods/besteffort/pod1/c/cpuset.cpus 0-7->0 suppressed false",
		"2 first cpu/kubepods/besteffort/pod1/cpu.shares 1024->1024 idle true",
		"3 first cpu/kubepods/besteffort/pod1/cpu.shares 1024->1024 idle true",
		"4 first cpu/kubepods/besteffort/pod1/cpu.shares 1024->2 idle false",
	}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

func TestPodsThatGoMeanwhileAreNoFailure(t *testing.T) {
	f := newFixture(t, cgroup.V2)
	f.kernel.Make(bestEffort + "/pod2")
	f.declare("first", cpus("0-1", bestEffort, bestEffort+"/pod2", pod, container)...)
	f.kernel.Fail(func(operation, path string) error {
		if operation == "write" && strings.Contains(path, pod) {
			return syscall.ENODEV // it was there to be read
		}
		return nil
	})
	f.apply(2, 0)
	f.kernel.Fail(nil)
	f.kernel.Remove(pod)
	f.clock.Step(verifyInterval)
	f.apply(0, 0)
	f.want(cgroup.CPUSet, bestEffort, "0-1")
	for target := range f.executor.managed {
		if strings.HasPrefix(target.of, pod) && !strings.HasPrefix(target.of, bestEffort+"/pod2") {
			t.Errorf("%v is held, and gone", target)
		}
	}
}

func TestWithoutAStoreNothingIsWritten(t *testing.T) {
	f := newFixture(t, cgroup.V1)
	f.store.Path = t.TempDir() + "/missing/originals"
	f.restart()
	f.declare("first", cpus("0-1", container)...)
	if outcome, err := f.executor.Apply(t.Context()); err == nil || outcome.Writes > 0 {
		t.Errorf("%d writes and error %v, though what was there cannot be kept", outcome.Writes, err)
	}
}
