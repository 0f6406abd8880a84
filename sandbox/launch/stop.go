package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"github.com/gofrs/flock"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/process"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/state"
)

// patience is how long a supervisor that was asked to stop may take: it ends its components in three stages of at most
// process.StopGrace each, and then what a real node leaves. One that takes longer hangs.
const patience = 3*process.StopGrace + realnode.CleanTimeout + 5*time.Second

// Stop ends a sandbox and returns when no process, port or lock of it is left. It works as well after a crash of the
// supervisor or when that hangs, and does nothing for a sandbox that is not running.
func (s Sandbox) Stop(ctx context.Context) error {
	return s.inTurn(ctx, func() error { return s.stop(ctx, patience) })
}

// Purge ends a sandbox as Stop does and deletes everything it keeps.
func (s Sandbox) Purge(ctx context.Context) error {
	return s.inTurn(ctx, func() error {
		if err := s.stop(ctx, patience); err != nil {
			return err
		}
		if err := s.Dir.Remove(); err != nil {
			return err
		}
		// While it is locked, so that a process that waits for it sees that it is another file's turn.
		if err := os.Remove(s.Dir.Turn()); err != nil {
			return fmt.Errorf("remove the sandbox's lock: %w", err)
		}
		return nil
	})
}

// inTurn does something while no other command starts, stops or deletes the sandbox.
func (s Sandbox) inTurn(ctx context.Context, do func() error) (err error) {
	end, err := s.takeTurn(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	return do()
}

func (s Sandbox) stop(ctx context.Context, patience time.Duration) (err error) {
	if _, err := os.Stat(s.Dir.Path()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock := flock.New(s.Dir.Lock())
	defer func() {
		if err = errors.Join(err, lock.Close()); err != nil {
			err = fmt.Errorf("stop sandbox %q: %w", s.Name, err)
		}
	}()
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
	if err := process.Sweep(ctx, s.Dir); err != nil {
		return err
	}
	if err := realnode.ThisHost().Clean(ctx, s.Dir); err != nil {
		return err
	}
	return s.Dir.ForgetProcesses()
}

// askToStop asks the supervisor, if there is one, to stop, and takes the lock that it lets go of last of all.
func (s Sandbox) askToStop(ctx context.Context, lock *flock.Flock, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// One that is crashing or hangs may give no answer, or half of one: the lock is released when it is gone.
	refusal := control.NewClient(s.Dir).Stop(ctx)
	if err := awaitLock(ctx, lock); err != nil {
		return errors.Join(err, refusal)
	}
	return nil
}

func awaitLock(ctx context.Context, lock *flock.Flock) error {
	locked, err := lock.TryLockContext(ctx, lockInterval)
	if err != nil {
		return fmt.Errorf("wait for the sandbox to stop: %w", err)
	}
	if !locked {
		return errors.New("wait for the sandbox to stop: its lock is still held")
	}
	return nil
}

// Ask returns what the supervisor says, control.ErrNotRunning when there is none, or a KOORD0505 error when it hangs.
func (s Sandbox) Ask(ctx context.Context) (*control.Status, error) {
	status, err := control.NewClient(s.Dir).Status(ctx)
	if err != nil && ctx.Err() == nil {
		err = s.explainTimeout(err)
	}
	return status, err
}

// explainTimeout says what to do about a supervisor that hangs.
func (s Sandbox) explainTimeout(err error) error {
	if hung := net.Error(nil); errors.As(err, &hung) && hung.Timeout() {
		return finding.Wrap(err, finding.SandboxComponentFailed, s.Command("down"))
	}
	return err
}

// Look returns a sandbox's status: the supervisor's own, or what the files tell when it is not running.
func (s Sandbox) Look(ctx context.Context) (*control.Status, error) {
	status, err := s.Ask(ctx)
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
