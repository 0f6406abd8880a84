package process

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/state"
)

// behaviour is the variable that makes the test's program one of the processes it tests with.
const behaviour = "KOORD_TEST_BEHAVIOUR"

func TestMain(m *testing.M) {
	switch os.Getenv(behaviour) {
	case "":
		goleak.VerifyTestMain(m)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		linger()
	case "obedient":
		linger()
	}
}

// linger is a process that waits to be ended, and ends by itself should the test be gone.
func linger() {
	_, _ = os.Stdout.WriteString("ready\n")
	time.Sleep(time.Minute)
}

func TestSweepEndsOrphans(t *testing.T) {
	dir := newDir(t)
	orphan := start(t, "obedient")
	record(t, dir, orphan)
	leaveSocket(t, dir)
	if err := Sweep(limited(t), dir); err != nil {
		t.Fatal(err)
	}
	if got := wait(t, orphan); got != "signal: terminated" {
		t.Errorf("the orphan ended with %q; want that it was asked to end", got)
	}
	if _, err := os.Stat(control.SocketPath(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the dead supervisor's socket: %v; want that it is gone", err)
	}
}

func TestSweepLeavesOthersAlone(t *testing.T) {
	tests := map[string]func(state.Process) state.Process{
		"a process that got the number later": func(p state.Process) state.Process { p.StartTime--; return p },
		"a process that ended before its start was known": func(p state.Process) state.Process {
			p.StartTime = 0
			return p
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			if !startTimesKnown {
				t.Skip("start times are not known here")
			}
			dir := newDir(t)
			foreign := start(t, "obedient")
			must(t, dir.WriteProcesses([]state.Process{change(identity(foreign)), {Component: "self", PID: os.Getpid(), StartTime: StartTime(os.Getpid())}}))
			if err := Sweep(limited(t), dir); err != nil {
				t.Fatal(err)
			}
			if !Alive(identity(foreign)) {
				t.Error("the process is gone")
			}
		})
	}
}

func TestEndKillsTheStubborn(t *testing.T) {
	stubborn := start(t, "stubborn")
	if err := end(limited(t), []state.Process{identity(stubborn)}, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if got := wait(t, stubborn); got != "signal: killed" {
		t.Errorf("the process ended with %q; want that it was killed", got)
	}
}

func TestSweepEndsWithItsContext(t *testing.T) {
	dir := newDir(t)
	stubborn := start(t, "stubborn")
	record(t, dir, stubborn)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := Sweep(ctx, dir)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "wait for 1 old processes") {
		t.Errorf("Sweep() = %v; want the context's error and how many are left", err)
	}
}

func TestSweepWithoutAnything(t *testing.T) {
	if err := Sweep(t.Context(), newDir(t)); err != nil {
		t.Errorf("Sweep() = %v; want that there was nothing to do", err)
	}
}

func TestSweepOfABrokenList(t *testing.T) {
	dir := newDir(t)
	must(t, os.WriteFile(filepath.Join(dir.Path(), "processes.json"), []byte("["), 0o600))
	if err := Sweep(limited(t), dir); err == nil || !strings.Contains(err.Error(), "parse processes.json") {
		t.Errorf("Sweep() = %v; want an error that names the file", err)
	}
}

func TestAlive(t *testing.T) {
	running := start(t, "obedient")
	// Nobody has asked for its end yet, as where the first process of a container does not.
	zombie := start(t, "obedient")
	p := identity(zombie)
	must(t, zombie.Process.Kill())
	await(t, "the process to be a zombie", func() bool { return StartTime(p.PID) == 0 })
	tests := map[string]struct {
		process state.Process
		want    bool
	}{
		"itself":                {identity(running), true},
		"one that has ended":    {p, false},
		"no number":             {state.Process{PID: 0, StartTime: 1}, false},
		"every process":         {state.Process{PID: -1, StartTime: 1}, false},
		"the system's first":    {state.Process{PID: 1, StartTime: StartTime(1)}, false},
		"a number nobody has":   {state.Process{PID: 1 << 30, StartTime: 1}, false},
		"the number of another": {state.Process{PID: running.Process.Pid, StartTime: 1}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Alive(tc.process); got != tc.want {
				t.Errorf("Alive(%+v) = %t; want %t", tc.process, got, tc.want)
			}
		})
	}
	if got := wait(t, zombie); got != "signal: killed" {
		t.Errorf("the zombie ended with %q", got)
	}
}

// limited is a context that ends before the patience of whoever runs the test does.
func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// start runs the test's program with a behaviour, as the leader of its own group, and ends it with the test.
func start(t *testing.T, how string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), behaviour+"="+how)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the process said %q, %v; want that it is ready", line, err)
	}
	return cmd
}

// wait returns how a process ended.
func wait(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		t.Fatalf("Wait() = %v; want an exit", err)
	}
	return cmd.ProcessState.String()
}

func identity(cmd *exec.Cmd) state.Process {
	return state.Process{Component: "etcd", PID: cmd.Process.Pid, StartTime: StartTime(cmd.Process.Pid)}
}

func record(t *testing.T, dir state.Dir, cmd *exec.Cmd) {
	t.Helper()
	must(t, dir.WriteProcesses([]state.Process{identity(cmd)}))
}

func newDir(t *testing.T) state.Dir {
	t.Helper()
	home, err := os.MkdirTemp("", "k")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(home)) })
	dir := state.At(filepath.Join(home, "s"))
	must(t, dir.Create())
	return dir
}

func leaveSocket(t *testing.T, dir state.Dir) {
	t.Helper()
	listener, err := net.Listen("unix", control.SocketPath(dir))
	must(t, err)
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	must(t, listener.Close())
}

// await polls a condition until it holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s", what)
		case <-tick.C:
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
