package executor

import (
	"testing"
	"time"

	"koordinator.sh/koord/agent/host/cgroup"
)

// slow is a store on a slow disk: it signals when a save begins, and completes the save when the test lets it.
type slow struct {
	Store
	began, goOn chan struct{}
}

// Save implements Store.
func (s *slow) Save(data any) error {
	s.began <- struct{}{}
	<-s.goOn
	return s.Store.Save(data)
}

// TestAContainerThatStartsDoesNotWaitForTheDisk: what is anticipated while originals go there is taken, and written by the next pass.
func TestAContainerThatStartsDoesNotWaitForTheDisk(t *testing.T) {
	f := newFixture(t, cgroup.V2)
	disk := &slow{f.store, make(chan struct{}, 10), make(chan struct{})}
	options := f.options()
	options.Originals = disk
	var err error
	if f.executor, err = New(options); err != nil {
		t.Fatal(err)
	}
	shares := func(of string) []DesiredValue {
		return []DesiredValue{{Setting: cgroup.CPUShares, Cgroup: of, Value: "512"}}
	}
	f.declare("first", shares(pod)...)
	passed, started := make(chan Outcome), make(chan struct{})
	go func() {
		outcome, err := f.executor.Apply(t.Context())
		if err != nil {
			t.Error(err)
		}
		passed <- outcome
	}()
	<-disk.began
	go func() {
		f.executor.DeclarePending(container, map[string][]DesiredValue{"second": shares(container)})
		close(started)
	}()
	select {
	case <-started:
	case <-time.After(10 * time.Second):
		t.Error("a container that starts waits until the disk is done")
	}
	close(disk.goOn)
	if outcome := <-passed; outcome.Writes != 1 {
		t.Errorf("%d writes of the pass, want the one that was declared", outcome.Writes)
	}
	<-started
	f.apply(1, 0)
	f.executor.DeclarePending(container, nil)
	f.apply(1, 0)
	if outcome, err := f.executor.Restore(t.Context()); err != nil || outcome.Writes != 1 {
		t.Errorf("%d writes to give back, %v; want one", outcome.Writes, err)
	}
}
