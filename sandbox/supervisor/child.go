package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/state"
)

// child is one running process, the leader of its own process group.
type child struct {
	cmd    *exec.Cmd
	done   chan struct{}
	result error // valid after done is closed
}

// spawner starts children from one operating system thread that lives as long as the supervisor: the kernel sends a
// child its parent-death signal when the thread that started it ends, not the process.
type spawner struct {
	requests chan spawnRequest
	// ended is closed when no more children are started.
	ended chan struct{}
}

type spawnRequest struct {
	cmd   *exec.Cmd
	reply chan error
}

// newSpawner starts the thread; it ends with ctx.
func newSpawner(ctx context.Context) *spawner {
	s := &spawner{requests: make(chan spawnRequest), ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		runtime.LockOSThread()
		s.serve(ctx, nil)
	}()
	return s
}

// newPrivateSpawner starts a thread that first enters a namespace, which its children inherit. Where it cannot, no child starts.
func newPrivateSpawner(ctx context.Context, enter func() error) *spawner {
	s := &spawner{requests: make(chan spawnRequest), ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		onThreadThatEnds(func() { s.serve(ctx, enter()) })
	}()
	return s
}

// onThreadThatEnds calls do on a thread that ends after it, as every thread does but the process's first: that one is held
// while another is looked for.
func onThreadThatEnds(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if realnode.OnFirstThread() {
			onThreadThatEnds(do)
			runtime.UnlockOSThread()
			return
		}
		do() // a locked thread ends with its goroutine
	}()
	<-done
}

// serve starts children until ctx ends, or refuses to with an error.
func (s *spawner) serve(ctx context.Context, refusal error) {
	for {
		select {
		case <-ctx.Done():
			return
		case request := <-s.requests:
			err := refusal
			if err == nil {
				err = request.cmd.Start()
			}
			request.reply <- err
		}
	}
}

// start runs a component with its output appended to its log.
func (s *spawner) start(ctx context.Context, dir state.Dir, c component.Component) (*child, error) {
	program, args := c.Program, c.Args
	if program == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the program of the sandbox: %w", err)
		}
		program, args = self, append([]string{c.Name}, args...)
	}
	log, err := os.OpenFile(dir.Log(c.Name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log of %q: %w", c.Name, err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = dir.Path()
	cmd.Env = append(environment(os.Environ()), c.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	request := spawnRequest{cmd: cmd, reply: make(chan error, 1)}
	select {
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), log.Close())
	case s.requests <- request:
	}
	err = errors.Join(<-request.reply, log.Close())
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", c.Name, err)
	}
	p := &child{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.result = cmd.Wait()
	}()
	return p, nil
}

// environment is the user's without the variables that etcd and kwok take for further flags of theirs.
func environment(environ []string) []string {
	return slices.DeleteFunc(environ, func(variable string) bool {
		return strings.HasPrefix(variable, "ETCD_") || strings.HasPrefix(variable, "KWOK_")
	})
}

// stop ends the process: SIGTERM, then SIGKILL to the whole group after the grace.
func (p *child) stop(grace time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
	}
}

// exitReason says how the process ended: "exit status 1", "signal: killed".
func (p *child) exitReason() string {
	if p.result == nil {
		return "exit status 0"
	}
	return p.result.Error()
}
