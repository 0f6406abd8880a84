package launch

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

// TestOneOfSeveralStartsASandbox starts one sandbox several times at once, each time with another spec.
func TestOneOfSeveralStartsASandbox(t *testing.T) {
	s := newSandbox(t)
	binaries := processtest.Programs(t, "koord-sandbox")
	processtest.Play(t, "works")
	t.Cleanup(func() { processtest.Must(t, s.Purge(context.WithoutCancel(t.Context()))) })
	const starts = 8
	var results [starts]error
	var group sync.WaitGroup
	for i := range starts {
		group.Go(func() {
			results[i] = s.Start(t.Context(), state.Spec{Name: "demo", Nodes: i, Speed: 1, Binaries: binaries}, nil)
		})
	}
	group.Wait()
	status, err := s.Look(t.Context())
	processtest.Must(t, err)
	for i, err := range results {
		if i == status.Spec.Nodes && err != nil || i != status.Spec.Nodes && !errors.Is(err, ErrAlreadyStarted) {
			t.Errorf("Start() with %d nodes = %v; the sandbox has %d", i, err, status.Spec.Nodes)
		}
	}
	stored, err := s.Dir.ReadSpec()
	processtest.Must(t, err)
	if diff := cmp.Diff(status.Spec, stored); diff != "" {
		t.Errorf("spec (-of the supervisor +stored):\n%s", diff)
	}
}

// TestATurnIsOver lets another process hold the sandbox's turn, and end in several ways.
func TestATurnIsOver(t *testing.T) {
	ends := map[string]func(t *testing.T, s Sandbox, kill func()){
		"it is killed": func(_ *testing.T, _ Sandbox, kill func()) { kill() },
		"it has deleted the sandbox, and its lock": func(t *testing.T, s Sandbox, kill func()) {
			processtest.Must(t, os.Remove(s.Dir.Turn()))
			kill()
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			cmd := processtest.Command("has its turn", s.Dir.Path())
			processtest.Start(t, cmd)
			processtest.Await(t, "the other to have its turn", func() bool {
				lock := flock.New(s.Dir.Turn())
				locked, err := lock.TryLock()
				processtest.Must(t, errors.Join(err, lock.Close()))
				return !locked
			})
			var waited atomic.Int32
			kill := func() { _ = cmd.Process.Kill() }
			release, err := s.takeTurn(processtest.Limited(t), func() {
				waited.Add(1)
				end(t, s, kill)
			})
			processtest.Must(t, err)
			if waited.Load() != 1 {
				t.Errorf("it said %d times that it waits; want once", waited.Load())
			}
			second := flock.New(s.Dir.Turn())
			if locked, err := second.TryLock(); locked || err != nil {
				t.Errorf("TryLock() of the file that is there = %t, %v; want it held", locked, err)
			}
			processtest.Must(t, release())
		})
	}
}

// TestALockOfARemovedFileIsNoTurn: a process that opened it before a purge, and locks it after, has locked nothing.
func TestALockOfARemovedFileIsNoTurn(t *testing.T) {
	s := created(t)
	lock := flock.New(s.Dir.Turn())
	_, err := lock.TryLock()
	processtest.Must(t, err)
	defer func() { processtest.Must(t, lock.Unlock()) }()
	if !isAt(lock, s.Dir.Turn()) {
		t.Error("isAt() = false for the file that is there")
	}
	processtest.Must(t, os.Remove(s.Dir.Turn()))
	if isAt(lock, s.Dir.Turn()) {
		t.Error("isAt() = true for a file that is removed")
	}
	processtest.Must(t, os.WriteFile(s.Dir.Turn(), nil, 0o600))
	if isAt(lock, s.Dir.Turn()) {
		t.Error("isAt() = true where another file has its place")
	}
}

func TestATurnThatDoesNotCome(t *testing.T) {
	s := created(t)
	release, err := s.takeTurn(t.Context(), nil)
	processtest.Must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for name, do := range map[string]func() error{
		"Start": func() error { return s.Start(ctx, state.Spec{Name: "demo"}, nil) },
		"Stop":  func() error { return s.Stop(ctx) },
		"Purge": func() error { return s.Purge(ctx) },
	} {
		if err := do(); !errors.Is(err, context.DeadlineExceeded) || !says(err, "another command") {
			t.Errorf("%s() = %v; want the context's error and what was waited for", name, err)
		}
	}
	processtest.Must(t, release())
	processtest.Must(t, s.Purge(t.Context()))
	for _, path := range []string{s.Dir.Path(), s.Dir.Turn()} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s after Purge(): %v; want that it is gone", path, err)
		}
	}
	processtest.Must(t, s.Stop(t.Context())) // of what is gone
}

// TestStartWhileASupervisorDoesNotAnswer has one that hangs, whose sandbox must stay as it is.
func TestStartWhileASupervisorDoesNotAnswer(t *testing.T) {
	s := created(t)
	superviseAs(t, s, "hangs")
	err := s.awaitAbsence(t.Context(), 20*time.Millisecond)
	found, ok := finding.From(err)
	if !ok || found.Code != finding.SandboxComponentFailed || found.Hint != "kubectl koord sandbox down --name demo" {
		t.Errorf("awaitAbsence() = %v; want KOORD0505 and how to take it down", err)
	}
}

// TestAwaitOverABrokenAnswer: a supervisor that dies breaks off its answer.
func TestAwaitOverABrokenAnswer(t *testing.T) {
	s := created(t)
	processtest.Answer(t, s.Dir, &control.Status{Phase: control.Starting}, nil, &control.Status{Phase: control.Running})
	if status, err := s.Await(t.Context(), func(*control.Status) {}); err != nil || status.Phase != control.Running {
		t.Errorf("Await() = %+v, %v; want that it runs", status, err)
	}
}
