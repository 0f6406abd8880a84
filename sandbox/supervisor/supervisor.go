// Package supervisor starts a sandbox's processes, watches them, restarts them when they end, and stops them. It reports
// koordctl over a socket how the sandbox is.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/process"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/state"
)

// ErrAlreadyRunning means that another supervisor holds the sandbox's lock.
var ErrAlreadyRunning = errors.New("the sandbox is already running")

// Supervisor owns the processes of one sandbox. Its methods are safe for concurrent use.
type Supervisor struct {
	dir       state.Dir
	spec      state.Spec
	timing    timing
	startedAt time.Time
	stop      context.CancelFunc

	mu      sync.Mutex
	phase   control.Phase
	message string
	code    string
	hint    string
	steps   []control.Step
	pending []control.PendingPod
	ports   state.Ports
	runners []*runner
}

// Run supervises the sandbox in dir until ctx ends or somebody asks to stop. It returns when everything is stopped.
func Run(ctx context.Context, dir state.Dir) error {
	return run(ctx, dir, usualTiming, (*boot).run)
}

// run is Run with what brings the sandbox up.
func run(ctx context.Context, dir state.Dir, t timing, bringUp func(*boot, context.Context) error) error {
	lock := flock.New(dir.Lock())
	locked, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("lock sandbox %q: %w", dir.Path(), err)
	}
	if !locked {
		return ErrAlreadyRunning
	}
	defer func() { _ = lock.Unlock() }() // the kernel does it anyway when the process ends
	if err := process.Sweep(ctx, dir); err != nil {
		return err
	}
	if err := realnode.ThisHost().Clean(ctx, dir); err != nil {
		return err
	}
	spec, err := dir.ReadSpec()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &Supervisor{dir: dir, spec: spec, timing: t, startedAt: time.Now(), stop: stop, phase: control.Starting}
	server, err := s.listen()
	if err != nil {
		return err
	}
	s.recordProcesses()
	s.supervise(ctx, bringUp)
	err = realnode.ThisHost().Clean(context.WithoutCancel(ctx), dir)
	return errors.Join(err, server.close(), dir.ForgetProcesses())
}

// supervise brings the sandbox up, keeps it up until ctx ends, and takes it down.
func (s *Supervisor) supervise(ctx context.Context, bringUp func(*boot, context.Context) error) {
	// The processes are stopped in reverse order, so each has its own context and outlives ctx.
	spawning, stopSpawning := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSpawning()
	boot := newBoot(s, newSpawner(spawning))
	var background sync.WaitGroup
	background.Go(func() { s.trimLogs(ctx) })
	if err := bringUp(boot, ctx); err != nil && ctx.Err() == nil {
		klog.ErrorS(err, "Failed to start the sandbox")
		s.fail(err)
	} else if ctx.Err() == nil {
		s.setPhase(control.Running)
	}
	<-ctx.Done()
	s.setPhase(control.Stopping)
	boot.stopAll()
	boot.leaveNode()
	background.Wait()
}

func (s *Supervisor) setPhase(phase control.Phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase = phase
}

// Status returns how the sandbox is now.
func (s *Supervisor) Status() control.Status {
	s.mu.Lock()
	status := control.Status{
		APIVersion: control.StatusAPIVersion, Kind: control.StatusKind,
		Spec: s.spec, Phase: s.phase, Message: s.message, Code: s.code, Hint: s.hint,
		PID: os.Getpid(), StartedAt: &s.startedAt,
		Directory: s.dir.Path(), Kubeconfig: s.dir.Kubeconfig(), Context: pki.ContextName(s.spec.Name),
		Steps: slices.Clone(s.steps), PendingPods: slices.Clone(s.pending),
	}
	if s.ports.APIServer != 0 {
		status.Server = fmt.Sprintf("https://127.0.0.1:%d", s.ports.APIServer)
	}
	runners := slices.Clone(s.runners)
	s.mu.Unlock()
	for _, r := range runners {
		c := r.snapshot()
		if c.PID != 0 {
			c.MemoryBytes = process.MemoryBytes(c.PID)
		}
		status.Components = append(status.Components, c)
	}
	return status
}

// addRunner makes a component part of the sandbox.
func (s *Supervisor) addRunner(c component.Component, spawner *spawner) *runner {
	r := newRunner(s.dir, c, spawner, s.timing, s.recordProcesses)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runners = append(s.runners, r)
	return r
}

// recordProcesses stores who belongs to the sandbox, for programs that run after a crash of the supervisor.
func (s *Supervisor) recordProcesses() {
	s.mu.Lock()
	defer s.mu.Unlock()
	processes := []state.Process{{Component: "supervisor", PID: os.Getpid(), StartTime: process.StartTime(os.Getpid())}}
	for _, r := range s.runners {
		if c := r.snapshot(); c.PID != 0 {
			processes = append(processes, state.Process{Component: c.Name, PID: c.PID, StartTime: process.StartTime(c.PID)})
		}
	}
	if err := s.dir.WriteProcesses(processes); err != nil {
		klog.ErrorS(err, "Failed to store the process list; processes may be left behind after a crash")
	}
}
