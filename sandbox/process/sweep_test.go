package process

import (
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

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

func TestMain(m *testing.M) {
	processtest.Main(m, processtest.Behaviours{
		"stubborn": func(string) {
			signal.Ignore(syscall.SIGTERM)
			processtest.Linger()
		},
		"obedient": func(string) { processtest.Linger() },
	})
}

func TestSweepEndsOrphans(t *testing.T) {
	dir := newDir(t)
	orphan, wait := processtest.StartReady(t, "obedient")
	record(t, dir, orphan)
	leaveSocket(t, dir)
	if err := Sweep(processtest.Limited(t), dir); err != nil {
		t.Fatal(err)
	}
	if got := wait(); got != "signal: terminated" {
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
			foreign, _ := processtest.StartReady(t, "obedient")
			processtest.Must(t, dir.WriteProcesses([]state.Process{change(identity(foreign)), {Component: "self", PID: os.Getpid(), StartTime: StartTime(os.Getpid())}}))
			if err := Sweep(processtest.Limited(t), dir); err != nil {
				t.Fatal(err)
			}
			if !Alive(identity(foreign)) {
				t.Error("the process is gone")
			}
		})
	}
}

func TestEndKillsTheStubborn(t *testing.T) {
	stubborn, wait := processtest.StartReady(t, "stubborn")
	if err := end(processtest.Limited(t), []state.Process{identity(stubborn)}, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if got := wait(); got != "signal: killed" {
		t.Errorf("the process ended with %q; want that it was killed", got)
	}
}

func TestSweepEndsWithItsContext(t *testing.T) {
	dir := newDir(t)
	stubborn, _ := processtest.StartReady(t, "stubborn")
	record(t, dir, stubborn)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := Sweep(ctx, dir)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "wait for 1 leftover processes") {
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
	processtest.Must(t, os.WriteFile(filepath.Join(dir.Path(), "processes.json"), []byte("["), 0o600))
	if err := Sweep(processtest.Limited(t), dir); err == nil || !strings.Contains(err.Error(), "parse processes.json") {
		t.Errorf("Sweep() = %v; want an error that names the file", err)
	}
}

func TestAlive(t *testing.T) {
	running, _ := processtest.StartReady(t, "obedient")
	// Nobody has asked for its end yet, as where the first process of a container does not.
	zombie, wait := processtest.StartReady(t, "obedient")
	p := identity(zombie)
	processtest.Must(t, zombie.Process.Kill())
	processtest.Await(t, "the process to be a zombie", func() bool { return StartTime(p.PID) == 0 })
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
	if got := wait(); got != "signal: killed" {
		t.Errorf("the zombie ended with %q", got)
	}
}

func identity(cmd *exec.Cmd) state.Process {
	return state.Process{Component: "etcd", PID: cmd.Process.Pid, StartTime: StartTime(cmd.Process.Pid)}
}

func record(t *testing.T, dir state.Dir, cmd *exec.Cmd) {
	t.Helper()
	processtest.Must(t, dir.WriteProcesses([]state.Process{identity(cmd)}))
}

func newDir(t *testing.T) state.Dir {
	t.Helper()
	dir := state.At(filepath.Join(processtest.Home(t), "s"))
	processtest.Must(t, dir.Create())
	return dir
}

func leaveSocket(t *testing.T, dir state.Dir) {
	t.Helper()
	listener, err := net.Listen("unix", control.SocketPath(dir))
	processtest.Must(t, err)
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	processtest.Must(t, listener.Close())
}
