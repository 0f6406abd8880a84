package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/process"
	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

func TestMain(m *testing.M) {
	processtest.Main(m, processtest.Behaviours{
		"fails": func(string) {
			fmt.Print("loading the specification\nparse spec.json: unexpected end of input\n")
			os.Exit(1)
		},
		"fails silently": func(string) { os.Exit(1) },
		"gives up":       func(string) { fmt.Println("nothing to do") },
		"works":          func(string) { superviseUntilStopped(processtest.Supervised()) },
		// has its turn, and keeps it.
		"has its turn": func(path string) {
			_, err := Sandbox{Name: "demo", Dir: state.At(path)}.takeTurn(context.Background(), nil)
			exitOn(err)
			processtest.Linger()
		},
		// hangs holds the lock and does not respond.
		"hangs": func(string) {
			lockAndRecord(processtest.Supervised())
			processtest.Linger()
		},
	})
}

// superviseUntilStopped is a supervisor of nothing.
func superviseUntilStopped(dir state.Dir) {
	lock := lockAndRecord(dir)
	exitOn(processtest.Supervise(dir, func() *control.Status {
		spec, _ := dir.ReadSpec()
		return &control.Status{Phase: control.Running, PID: os.Getpid(), Spec: spec}
	}))
	exitOn(lock.Unlock())
}

func lockAndRecord(dir state.Dir) *flock.Flock {
	lock := flock.New(dir.Lock())
	locked, err := lock.TryLock()
	if !locked {
		err = errors.Join(err, errors.New("the lock is held"))
	}
	exitOn(err)
	exitOn(dir.WriteProcesses([]state.Process{{Component: "supervisor", PID: os.Getpid(), StartTime: process.StartTime(os.Getpid())}}))
	return lock
}

func exitOn(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(8)
	}
}

// newSandbox has a path short enough for a socket. It does not exist yet.
func newSandbox(t *testing.T) Sandbox {
	t.Helper()
	return Sandbox{Name: "demo", Dir: state.At(filepath.Join(processtest.Home(t), "s")), Program: "kubectl koord"}
}

// created is a sandbox that was started once.
func created(t *testing.T) Sandbox {
	t.Helper()
	s := newSandbox(t)
	processtest.Must(t, s.Dir.Create())
	processtest.Must(t, s.Dir.WriteSpec(state.Spec{Name: s.Name, Nodes: 3, Speed: 1}))
	return s
}

// superviseAs runs the test's program as a supervisor and returns once it holds the lock.
func superviseAs(t *testing.T, s Sandbox, how string) *exec.Cmd {
	t.Helper()
	cmd := processtest.Command(how, "", "supervise", s.Dir.Path())
	processtest.Start(t, cmd)
	processtest.Await(t, "the supervisor to be recorded", func() bool {
		recorded, err := s.Dir.ReadProcesses()
		return err == nil && len(recorded) == 1
	})
	return cmd
}

func says(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }
