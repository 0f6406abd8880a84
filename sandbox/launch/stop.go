package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/flock"

	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/process"
	"koordinator.sh/koord/sandbox/state"
)

// patience is how long a supervisor that was asked to stop may take: it ends its components in three stages of at most
// process.StopGrace each. One that takes longer hangs.
const patience = 3*process.StopGrace + 5*time.Second

// Stop ends a sandbox and returns when no process, port or lock of it is left. It works as well after a crash of the
// supervisor or when that hangs, and does nothing for a sandbox that is not running.
func (s Sandbox) Stop(ctx context.Context) error { return s.stop(ctx, patience) }

func (s Sandbox) stop(ctx context.Context, patience time.Duration) error {
	if err := checkOwner(s.Dir); err != nil {
		return err
	}
	lock := flock.New(s.Dir.Lock())
	if err := s.askToStop(ctx, lock, patience); err != nil {
		if ctx.Err() != nil {
			return err
		}
		// It hangs, and its lock with it: it is ended as one of the processes it recorded.
		if err := process.Sweep(ctx, s.Dir); err != nil {
			return err
		}
		if err := awaitLock(ctx, lock); err != nil {
			return err
		}
	}
	err := process.Sweep(ctx, s.Dir)
	if err == nil {
		err = s.Dir.ForgetProcesses()
	}
	if err = errors.Join(err, lock.Unlock()); err != nil {
		return fmt.Errorf("clear up after the sandbox: %w", err)
	}
	return nil
}

// askToStop asks the supervisor, if there is one, to stop, and takes the lock that it lets go of last of all.
func (s Sandbox) askToStop(ctx context.Context, lock *flock.Flock, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// One that is crashing or hangs may give no answer, or half of one: the lock tells when it is gone.
	refusal := control.NewClient(s.Dir).Stop(ctx)
	if err := awaitLock(ctx, lock); err != nil {
		return errors.Join(err, refusal)
	}
	return nil
}

func awaitLock(ctx context.Context, lock *flock.Flock) error {
	locked, err := lock.TryLockContext(ctx, 50*time.Millisecond)
	if err != nil {
		return fmt.Errorf("wait for the sandbox to end: %w", err)
	}
	if !locked {
		return errors.New("wait for the sandbox to end: its lock is held")
	}
	return nil
}

// Look returns a sandbox's status: the supervisor's own, or what the files tell when it is not running.
func (s Sandbox) Look(ctx context.Context) (*control.Status, error) {
	status, err := control.NewClient(s.Dir).Status(ctx)
	if err == nil || !errors.Is(err, control.ErrNotRunning) {
		return status, err
	}
	var spec state.Spec
	if spec, err = s.Dir.ReadSpec(); err != nil {
		return nil, err
	}
	return &control.Status{
		APIVersion: control.StatusAPIVersion, Kind: control.StatusKind,
		Spec: spec, Phase: control.Stopped,
		Directory: s.Dir.Path(), Kubeconfig: s.Dir.Kubeconfig(), Context: s.Context(),
	}, nil
}
