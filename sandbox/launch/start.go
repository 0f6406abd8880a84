package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/state"
)

// ErrAlreadyStarted means that a supervisor answers for the sandbox already.
var ErrAlreadyStarted = errors.New("the sandbox was started by another command")

// Start prepares the sandbox's directory for a spec and detaches a supervisor. It returns when the supervisor answers.
// Of several that start a sandbox at the same time one does; the others call waiting, and return ErrAlreadyStarted without
// having changed its spec.
func (s Sandbox) Start(ctx context.Context, spec state.Spec, waiting func()) (err error) {
	end, err := s.takeTurn(ctx, waiting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := s.awaitAbsence(ctx, absenceTimeout); err != nil {
		return err
	}
	if err := prepare(s.Dir, spec); err != nil {
		return err
	}
	exited, logged, err := s.detach(spec)
	if err != nil {
		return err
	}
	return s.awaitAnswer(ctx, exited, logged)
}

// detach starts the supervisor. The channel has its exit; logged is how long its log was before.
func (s Sandbox) detach(spec state.Spec) (exited <-chan error, logged int64, err error) {
	log, err := os.OpenFile(s.Dir.Log("supervisor"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("open the supervisor's log: %w", err)
	}
	info, err := log.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("open the supervisor's log: %w", err), log.Close())
	}
	cmd := exec.Command(filepath.Join(spec.Binaries, sandboxProgram), "supervise", s.Dir.Path())
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = s.Dir.Path()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives this terminal
	err = cmd.Start()
	if err = errors.Join(err, log.Close()); err != nil {
		return nil, 0, fmt.Errorf("start the sandbox's supervisor: %w", err)
	}
	result := make(chan error, 1)
	go func() { result <- cmd.Wait() }() // until the supervisor or this program ends
	return result, info.Size(), nil
}

func prepare(dir state.Dir, spec state.Spec) error {
	if err := explainCreate(dir.Create()); err != nil {
		return err
	}
	if err := dir.CheckSpace(); err != nil {
		return finding.Wrap(err, finding.SandboxDiskFull, "free disk space, or set "+state.HomeVariable+" to a directory on another disk")
	}
	return dir.WriteSpec(spec)
}

func checkOwner(dir state.Dir) error {
	return finding.Wrap(dir.CheckOwner(os.Getuid()), finding.SandboxForeignOwner,
		"unset "+state.HomeVariable+", or set it to a directory of your own")
}
