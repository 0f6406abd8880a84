package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/process"
	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

func TestStopOfWhatDoesNotRun(t *testing.T) {
	s := created(t)
	for range 2 {
		processtest.Must(t, s.Stop(t.Context()))
	}
	wantNothingLeft(t, s, nil)
	spec, err := s.Dir.ReadSpec()
	processtest.Must(t, err)
	if diff := cmp.Diff(state.Spec{Name: "demo", Nodes: 3, Speed: 1}, spec); diff != "" {
		t.Errorf("spec after Stop() (-want +got):\n%s", diff)
	}
}

func TestStopOfWhatRuns(t *testing.T) {
	for _, how := range []string{"works", "hangs"} {
		t.Run(how, func(t *testing.T) {
			s := created(t)
			superviseAs(t, s, how)
			recorded, err := s.Dir.ReadProcesses()
			processtest.Must(t, err)
			patience := 20 * time.Second
			if how == "hangs" {
				patience = 100 * time.Millisecond
			} else {
				processtest.Await(t, "the supervisor to answer", func() bool {
					_, err := control.NewClient(s.Dir).Status(t.Context())
					return err == nil
				})
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			processtest.Must(t, s.stop(ctx, patience))
			wantNothingLeft(t, s, recorded)
		})
	}
}

// TestStopAfterACrash kills a supervisor that has left a lock file, a socket and its record.
func TestStopAfterACrash(t *testing.T) {
	s := created(t)
	cmd := superviseAs(t, s, "works")
	processtest.Await(t, "the socket to be there", func() bool {
		_, err := os.Stat(control.SocketPath(s.Dir))
		return err == nil
	})
	recorded, err := s.Dir.ReadProcesses()
	processtest.Must(t, err)
	processtest.Must(t, cmd.Process.Kill())
	processtest.Must(t, s.Stop(t.Context()))
	wantNothingLeft(t, s, recorded)
}

func TestStopThatIsInterrupted(t *testing.T) {
	s := created(t)
	lock := flock.New(s.Dir.Lock())
	_, err := lock.TryLock()
	processtest.Must(t, err)
	defer func() { processtest.Must(t, lock.Unlock()) }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := s.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) || !says(err, "wait for the sandbox to stop") {
		t.Errorf("Stop() = %v; want the context's error and what was waited for", err)
	}
}

func TestStopOfAnotherUsersSandbox(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("giving a directory away needs root")
	}
	s := created(t)
	processtest.Must(t, os.Chown(s.Dir.Path(), 4711, -1))
	found, ok := finding.From(s.Stop(t.Context()))
	if !ok || found.Code != finding.SandboxForeignOwner {
		t.Errorf("Stop() = %v; want KOORD0504", found)
	}
}

func TestLookAtWhatDoesNotRun(t *testing.T) {
	s := created(t)
	got, err := s.Look(t.Context())
	processtest.Must(t, err)
	want := &control.Status{
		APIVersion: "diagnostics.koordinator.sh/v1alpha1", Kind: "SandboxStatus",
		Spec: state.Spec{Name: "demo", Nodes: 3, Speed: 1}, Phase: control.Stopped,
		Directory: s.Dir.Path(), Kubeconfig: s.Dir.Kubeconfig(), Context: "koord-sandbox-demo",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Look() (-want +got):\n%s", diff)
	}
	if status, err := newSandbox(t).Look(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Look() at what never was = %+v, %v; want that it does not exist", status, err)
	}
}

func wantNothingLeft(t *testing.T, s Sandbox, recorded []state.Process) {
	t.Helper()
	for _, p := range recorded {
		if process.Alive(p) {
			t.Errorf("%+v is left", p)
		}
	}
	if left, err := s.Dir.ReadProcesses(); left != nil || err != nil {
		t.Errorf("recorded processes %+v, %v; want none", left, err)
	}
	if _, err := os.Stat(control.SocketPath(s.Dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket: %v; want that it is gone", err)
	}
	lock := flock.New(s.Dir.Lock())
	if locked, err := lock.TryLock(); !locked || err != nil {
		t.Errorf("TryLock() = %t, %v; want the lock free", locked, err)
	}
	processtest.Must(t, lock.Unlock())
}

func TestASupervisorThatHangs(t *testing.T) {
	s := newSandbox(t)
	err := s.explainTimeout(fmt.Errorf("ask the sandbox's supervisor: %w", os.ErrDeadlineExceeded))
	found, ok := finding.From(err)
	if !ok || found.Code != finding.SandboxComponentFailed || found.Hint != "kubectl koord sandbox down --name demo" {
		t.Errorf("explainTimeout() = %v; want KOORD0505 and how to take it down", err)
	}
	if err := s.explainTimeout(control.ErrNotRunning); !errors.Is(err, control.ErrNotRunning) {
		t.Errorf("explainTimeout() of another error = %v; want it as it is", err)
	}
}
