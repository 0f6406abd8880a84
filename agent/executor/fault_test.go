package executor

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/agent/host/parameter"
	"koordinator.sh/koord/agent/host/process"
	"koordinator.sh/koord/decision/nodeqos/sysctl"
)

// full is a store on a disk that may be full.
type full struct {
	Store
	full  bool
	tries int
}

func (s *full) Save(data any) error {
	s.tries++
	if s.full {
		return syscall.ENOSPC
	}
	return s.Store.Save(data)
}

func TestAFullDiskStopsNothingThatWasBegun(t *testing.T) {
	onBoth(t, func(f *fixture) {
		store := &full{Store: f.store}
		f.executor.options.Originals = store
		before := f.kernel.Dump()
		f.declare("first", cpus("0-3", bestEffort, pod, container)...)
		f.apply(3, 0)
		store.full, store.tries = true, 0
		f.declare("first", append(cpus("0-1", bestEffort, pod, container), DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "2"})...)
		outcome, err := f.executor.Apply(t.Context())
		if !errors.Is(err, syscall.ENOSPC) || outcome.Writes != 3 || len(outcome.Failures) != 1 || !errors.Is(outcome.Failures[0], syscall.ENOSPC) {
			t.Errorf("%d writes, failures %v, %v; want the three files whose originals are kept, and a failure", outcome.Writes, outcome.Failures, err)
		}
		f.want(cgroup.CPUSet, pod, "0-1")
		for range 9 {
			f.clock.Step(time.Second)
			if _, err := f.executor.Apply(t.Context()); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("error %v while the disk is full", err)
			}
		}
		if store.tries != 1 {
			t.Errorf("%d attempts to save within ten seconds, want 1", store.tries)
		}
		store.full = false
		f.clock.Step(saveRetryInterval)
		f.apply(1, 0)
		f.want(cgroup.CPUShares, pod, "2")
		f.restart()
		if outcome, err := f.executor.Restore(t.Context()); err != nil || len(outcome.Failures) > 0 {
			t.Fatal(outcome.Failures, err)
		}
		if diff := cmp.Diff(before, f.kernel.Dump()); diff != "" {
			t.Errorf("something is left (-before +after):\n%s", diff)
		}
	})
}

func TestWhatIsWrittenOnAFullDiskReturnsWhenTheAgentStops(t *testing.T) {
	f := newFixture(t, cgroup.V1)
	store := &full{Store: f.store}
	f.executor.options.Originals = store
	before := f.kernel.Dump()
	f.declare("first", cpus("0-3", bestEffort, pod, container)...)
	f.apply(3, 0)
	store.full = true
	f.declare("first", cpus("0-1", bestEffort, pod, container)...)
	f.apply(3, 0) // the same originals: nothing has to be saved
	if outcome, err := f.executor.Restore(t.Context()); !errors.Is(err, syscall.ENOSPC) || len(outcome.Failures) > 0 {
		t.Errorf("failures %v, %v", outcome.Failures, err)
	}
	if diff := cmp.Diff(before, f.kernel.Dump()); diff != "" {
		t.Errorf("something is left (-before +after):\n%s", diff)
	}
}

// TestEveryAnswerOfTheKernelIsBorne has each file refuse writes, reads, or both, with what kernels answer.
func TestEveryAnswerOfTheKernelIsBorne(t *testing.T) {
	answers := map[syscall.Errno]bool{ // whether it is a failure: what went is none
		syscall.ENOENT: false, syscall.ENODEV: false, syscall.EBUSY: true, syscall.EINVAL: true, syscall.ENOSPC: true, syscall.EPERM: true, syscall.EIO: true,
	}
	for answer, wantFailure := range answers {
		for _, operation := range []string{"read", "write"} {
			t.Run(fmt.Sprintf("%v on %s", answer, operation), func(t *testing.T) {
				f := newFixture(t, cgroup.V1)
				before := f.kernel.Dump()
				f.kernel.Fail(func(done, path string) error {
					if done == operation && strings.Contains(path, container) {
						return answer
					}
					return nil
				})
				shares := func(of, value string) DesiredValue {
					return DesiredValue{Setting: cgroup.CPUShares, Cgroup: of, Value: value}
				}
				f.declare("first", shares(bestEffort, "20"), shares(pod, "30"), shares(container, "40"))
				for range 100 {
					outcome, err := f.executor.Apply(t.Context())
					if err != nil || len(outcome.Failures) > 0 != wantFailure {
						t.Fatalf("failures %v, %v", outcome.Failures, err)
					}
					f.clock.Step(time.Second)
				}
				f.want(cgroup.CPUShares, bestEffort, "20")
				f.kernel.Fail(nil)
				f.clock.Step(maxRetryInterval)
				if outcome, err := f.executor.Apply(t.Context()); err != nil || len(outcome.Failures) > 0 {
					t.Fatalf("failures %v, %v after it is over", outcome.Failures, err)
				}
				f.want(cgroup.CPUShares, container, "40")
				if outcome, err := f.executor.Restore(t.Context()); err != nil || len(outcome.Failures) > 0 {
					t.Fatalf("failures %v, %v", outcome.Failures, err)
				}
				if diff := cmp.Diff(before, f.kernel.Dump()); diff != "" {
					t.Errorf("something is left (-before +after):\n%s", diff)
				}
			})
		}
	}
}

func TestRefusalsAreTriedAgainAtGrowingDistances(t *testing.T) {
	f := newFixture(t, cgroup.V1)
	tries := 0
	f.kernel.Fail(func(operation, path string) error {
		if operation == "write" {
			tries++
			return syscall.EBUSY
		}
		return nil
	})
	shares := func(value string) DesiredValue {
		return DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: value}
	}
	f.declare("first", shares("20"))
	for range 600 {
		if got := f.apply(0, 1); !errors.Is(got.Failures[0], syscall.EBUSY) {
			t.Fatalf("failure %v, want what the kernel said", got.Failures[0])
		}
		f.clock.Step(time.Second)
	}
	if tries < 20 || tries > 26 {
		t.Errorf("%d attempts within ten minutes, want one in half a minute", tries)
	}
	if entries := len(f.log.After(0, 100)); entries > 11 {
		t.Errorf("%d entries in the audit log within ten minutes, want one a minute", entries)
	}
	tries = 0
	f.declare("first", shares("30"))
	if f.apply(0, 1); tries != 1 {
		t.Errorf("%d attempts at another value, want one at once", tries)
	}
	tries = 0
	f.apply(0, 1) // the second attempt is due at once
	f.apply(0, 1)
	before := tries
	f.clock.Step(-time.Hour)
	if f.apply(0, 1); tries != before+1 {
		t.Errorf("%d attempts after the clock was set back, want one", tries-before)
	}
	f.kernel.Fail(nil)
	if outcome, err := f.executor.Restore(t.Context()); err != nil || outcome.Err() != nil {
		t.Error("what is given back does not wait", outcome.Err(), err)
	}
}

// TestAClockThatIsSetBackHidesNothing: that a value is there is verified although it was last seen in the future.
func TestAClockThatIsSetBackHidesNothing(t *testing.T) {
	for _, jump := range []time.Duration{-time.Hour, time.Hour} {
		f := newFixture(t, cgroup.V1)
		f.declare("first", DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "2"})
		f.apply(1, 0)
		if err := f.kernel.Write("cpu/"+pod+"/cpu.shares", "700"); err != nil {
			t.Fatal(err)
		}
		f.clock.Step(jump)
		f.apply(1, 0)
		f.want(cgroup.CPUShares, pod, "2")
	}
}

// TestErrorsAreShort has hundreds of cgroups refuse at once.
func TestErrorsAreShort(t *testing.T) {
	var outcome Outcome
	for i := range 500 {
		outcome.Failures = append(outcome.Failures, Failure{Owner: "first", Setting: "cpu.shares", Cgroup: fmt.Sprintf("pod%d", i), Err: syscall.EBUSY})
	}
	if got := outcome.Err().Error(); len(got) > 2000 || !strings.Contains(got, "and 490 more") {
		t.Errorf("%d characters: %s", len(got), got)
	}
}

// TestParametersAndProcessesReturnAfterACrash ends the agent after each save of its account, on the way and on the way back.
func TestParametersAndProcessesReturnAfterACrash(t *testing.T) {
	watermark := parameter.Find(sysctl.Setting{Name: sysctl.WatermarkScaleFactor})[0]
	_, file, _ := watermark.Locate(cgroup.Layout{}, "")
	identity := process.Identity{PID: 7, Start: 70, Cgroup: container}.String()
	values := []DesiredValue{{Setting: watermark, Value: "20"}, {Setting: process.OOMScore{}, Cgroup: identity, Value: "500"}, {Setting: cgroup.CPUShares, Cgroup: pod, Value: "2"}}
	for saves := range 4 {
		f := newFixture(t, cgroup.V1)
		machine := kernelfs.NewMachine()
		machine.Number(file, 10, 1, 3000)
		machine.Start(7, 70, container, 900)
		before, groups := machine.Dump(), f.kernel.Dump()
		restart := func() {
			f.restart()
			f.executor.options.Proc, f.executor.options.Sys = machine, machine
		}
		restart()
		killed := &mortalStore{Store: f.store, left: saves}
		f.executor.options.Originals = killed
		f.declare("first", values...)
		_, _ = f.executor.Apply(t.Context()) // it may be killed
		f.declare("first")
		_, _ = f.executor.Apply(t.Context())
		restart()
		f.declare("first", values...)
		if f.apply(3, 0); machine.Dump()["7/oom_score_adj"] != "500" || machine.Dump()[file] != "20" {
			t.Errorf("killed after %d saves: the next round comes to %v", saves, machine.Dump())
		}
		restart()
		if outcome, err := f.executor.Restore(t.Context()); err != nil || outcome.Err() != nil {
			t.Fatal(err, outcome.Err())
		}
		if diff := cmp.Diff(before, machine.Dump()); diff != "" {
			t.Errorf("killed after %d saves (-before +after):\n%s", saves, diff)
		}
		if diff := cmp.Diff(groups, f.kernel.Dump()); diff != "" {
			t.Errorf("killed after %d saves (-before +after):\n%s", saves, diff)
		}
	}
}

// mortalStore saves so many times; what comes after is lost, as the process is.
type mortalStore struct {
	Store
	left int
}

func (s *mortalStore) Save(data any) error {
	if s.left == 0 {
		return errKilled
	}
	s.left--
	return s.Store.Save(data)
}

// TestAnAmountThatIsNoWholePageIsLeftAlone: the kernel keeps whole pages, which is not what somebody else wrote.
func TestAnAmountThatIsNoWholePageIsLeftAlone(t *testing.T) {
	onBoth(t, func(f *fixture) {
		before := f.kernel.Dump()
		f.declare("first", DesiredValue{Setting: cgroup.MemoryLimit, Cgroup: pod, Value: "1000000001"})
		f.apply(1, 0)
		for range 3 {
			f.clock.Step(verifyInterval)
			f.apply(0, 0)
		}
		f.declare("first")
		f.apply(1, 0)
		if diff := cmp.Diff(before, f.kernel.Dump()); diff != "" {
			t.Errorf("something is left (-before +after):\n%s", diff)
		}
	})
}

// TestWhatIsWrittenWhenTheAgentIsAskedToEndReturns ends a round after each of its writes; the same executor gives everything back then.
func TestWhatIsWrittenWhenTheAgentIsAskedToEndReturns(t *testing.T) {
	onBoth(t, func(f *fixture) {
		for writes, ended := 1, true; ended; writes++ {
			g := newFixture(f.T, f.version)
			before := g.kernel.Dump()
			g.declare("first", cpus("0-3", bestEffort, pod, container)...)
			g.apply(3, 0)
			g.declare("first", append(cpus("2-5", bestEffort, pod, container), DesiredValue{Setting: cgroup.CPUShares, Cgroup: pod, Value: "2"})...)
			ended = g.killedAfter(writes)
			if outcome, err := g.executor.Restore(t.Context()); err != nil || len(outcome.Failures) > 0 {
				t.Fatalf("ended after %d writes: %v, %v", writes, outcome.Failures, err)
			}
			if diff := cmp.Diff(before, g.kernel.Dump()); diff != "" {
				t.Fatalf("ended after %d writes, something is left (-before +after):\n%s", writes, diff)
			}
		}
	})
}

// TestARoundThatWasEndedIsFinishedByTheNext although what was there before it is wanted again.
func TestARoundThatWasEndedIsFinishedByTheNext(t *testing.T) {
	f := newFixture(t, cgroup.V1)
	f.declare("first", cpus("0-1", bestEffort, pod, container)...)
	f.apply(3, 0)
	f.declare("first", cpus("2-5", bestEffort, pod, container)...)
	if !f.killedAfter(2) {
		t.Fatal("the round was not ended")
	}
	f.declare("first", cpus("0-1", bestEffort, pod, container)...)
	f.apply(2, 0)
	f.want(cgroup.CPUSet, bestEffort, "0-1")
	f.want(cgroup.CPUSet, pod, "0-1")
}
