// Package process recognises a sandbox's processes and ends those that a dead supervisor left behind.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/state"
)

// StopGrace is how long a process may take to end after SIGTERM before it is killed.
const StopGrace = 10 * time.Second

// Sweep ends what a supervisor that is gone left behind: its children and its socket. It must be called with the
// sandbox's lock held, or after it was seen to be free.
func Sweep(ctx context.Context, dir state.Dir) error {
	processes, err := dir.ReadProcesses()
	if err != nil {
		return err
	}
	if err := end(ctx, processes, StopGrace); err != nil {
		return err
	}
	if err := os.Remove(control.SocketPath(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the socket of a dead supervisor: %w", err)
	}
	return nil
}

// Alive reports whether the very process still runs, and not another one under its number.
func Alive(p state.Process) bool {
	if p.PID <= 1 || syscall.Kill(p.PID, 0) != nil {
		return false
	}
	if startTimesKnown {
		return p.StartTime != 0 && StartTime(p.PID) == p.StartTime
	}
	return true
}

// end asks the processes' groups to end and kills those that outlive the grace. It returns when all are gone.
func end(ctx context.Context, processes []state.Process, grace time.Duration) error {
	processes = slices.DeleteFunc(processes, func(p state.Process) bool { return p.PID == os.Getpid() || !Alive(p) })
	for _, p := range processes {
		_ = syscall.Kill(-p.PID, syscall.SIGTERM) // it may end by itself meanwhile
	}
	deadline := time.Now().Add(grace)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for len(processes) > 0 {
		processes = slices.DeleteFunc(processes, func(p state.Process) bool { return !Alive(p) })
		if time.Now().After(deadline) {
			for _, p := range processes {
				_ = syscall.Kill(-p.PID, syscall.SIGKILL)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %d leftover processes to exit: %w", len(processes), ctx.Err())
		case <-tick.C:
		}
	}
	return nil
}
