package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/state"
)

// pollInterval is how often a starting sandbox is asked how far it is.
const pollInterval = 150 * time.Millisecond

// answerTimeout is how long a supervisor may take until it answers for the first time.
const answerTimeout = 20 * time.Second

// Start prepares the sandbox's directory for a spec and detaches a supervisor. It returns when the supervisor answers.
func (s Sandbox) Start(ctx context.Context, spec state.Spec) error {
	dir := s.Dir
	if err := prepare(dir, spec); err != nil {
		return err
	}
	log, err := os.OpenFile(dir.Log("supervisor"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the supervisor's log: %w", err)
	}
	cmd := exec.Command(filepath.Join(spec.Binaries, sandboxProgram), "supervise", dir.Path())
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = dir.Path()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives this terminal
	err = cmd.Start()
	if err = errors.Join(err, log.Close()); err != nil {
		return fmt.Errorf("start the sandbox's supervisor: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	return s.awaitAnswer(ctx, exited)
}

func prepare(dir state.Dir, spec state.Spec) error {
	if err := checkOwner(dir); err != nil {
		return err
	}
	if err := dir.Create(); errors.Is(err, fs.ErrPermission) {
		return finding.Wrap(err, finding.SandboxForeignOwner, "set "+state.HomeVariable+" to a directory of your own")
	} else if err != nil {
		return err
	}
	if err := dir.CheckSpace(); err != nil {
		return finding.Wrap(err, finding.SandboxDiskFull, "free some space, or set "+state.HomeVariable+" to a directory on another disk")
	}
	return dir.WriteSpec(spec)
}

func checkOwner(dir state.Dir) error {
	return finding.Wrap(dir.CheckOwner(os.Getuid()), finding.SandboxForeignOwner,
		"unset "+state.HomeVariable+", or set it to a directory of your own")
}

// awaitAnswer waits until the supervisor answers on its socket, or is gone.
func (s Sandbox) awaitAnswer(ctx context.Context, exited <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	client := control.NewClient(s.Dir)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if _, err := client.Status(ctx); err == nil {
			return nil
		}
		select {
		case err := <-exited:
			return s.ended("at once", err)
		case <-ctx.Done():
			err := fmt.Errorf("wait for the sandbox's supervisor: %w", ctx.Err())
			return finding.Wrap(err, finding.SandboxComponentFailed, s.Command("logs supervisor"))
		case <-tick.C:
		}
	}
}

// ended is the error of a supervisor that is gone, with the last line of its log; exit may be nil.
func (s Sandbox) ended(when string, exit error) error {
	if exit != nil {
		when += fmt.Sprintf(" (%v)", exit)
	}
	err := fmt.Errorf("the sandbox's supervisor ended %s: %s", when, lastLine(s.Dir.Log("supervisor")))
	return finding.Wrap(err, finding.SandboxComponentFailed, s.Command("logs supervisor"))
}

// Await follows a starting sandbox until it runs or has failed. observe is called with every status seen.
func (s Sandbox) Await(ctx context.Context, observe func(*control.Status)) (*control.Status, error) {
	client := control.NewClient(s.Dir)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		status, err := client.Status(ctx)
		if errors.Is(err, control.ErrNotRunning) {
			return nil, s.ended("while the sandbox started", nil)
		}
		if err != nil {
			return nil, err
		}
		observe(status)
		switch status.Phase {
		case control.Running:
			return status, nil
		case control.Failed:
			err := errors.New(status.Message)
			return status, finding.Wrap(err, finding.Code(status.Code), s.hint(status))
		case control.Stopping:
			return status, errors.New("somebody is taking the sandbox down")
		}
		select {
		case <-ctx.Done():
			return status, ctx.Err()
		case <-tick.C:
		}
	}
}

// hint is the supervisor's own, else it names the log to read after a failure: that of the component that is not up, or
// the supervisor's.
func (s Sandbox) hint(status *control.Status) string {
	if status.Hint != "" {
		return status.Hint
	}
	for _, c := range status.Components {
		if c.Phase != control.Running {
			return s.Command("logs " + c.Name)
		}
	}
	return s.Command("logs supervisor")
}

func lastLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "its log cannot be read"
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return "its log is empty"
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}
