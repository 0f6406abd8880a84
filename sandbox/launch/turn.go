package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/state"
)

// lockInterval is how often a lock that another process holds is tried.
const lockInterval = 50 * time.Millisecond

// takeTurn waits until no other command starts, stops or deletes the sandbox, and keeps them from it until end is called
// or the process ends, however it ends. waiting is called once when it has to wait; it may be nil.
func (s Sandbox) takeTurn(ctx context.Context, waiting func()) (end func() error, err error) {
	if err := s.prepareParent(); err != nil {
		return nil, err
	}
	tick := time.NewTicker(lockInterval)
	defer tick.Stop()
	for {
		lock := flock.New(s.Dir.Turn())
		locked, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("lock sandbox %q: %w", s.Name, err)
		}
		if locked && isAt(lock, s.Dir.Turn()) {
			return lock.Unlock, nil
		}
		// Held, or of a file that a purge has removed since it was opened.
		if err := lock.Close(); err != nil {
			return nil, fmt.Errorf("lock sandbox %q: %w", s.Name, err)
		}
		if !locked && waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another command is starting or stopping sandbox %q: %w", s.Name, ctx.Err())
		case <-tick.C:
		}
	}
}

// prepareParent makes the directory that the lock's file lies in, unless it is another user's.
func (s Sandbox) prepareParent() error {
	if err := checkOwner(s.Dir); err != nil {
		return err
	}
	return explainCreate(s.Dir.CreateParent())
}

// explainCreate says what to do about a directory that cannot be made.
func explainCreate(err error) error {
	hint := "set " + state.HomeVariable + " to a directory of your own"
	switch {
	case errors.Is(err, fs.ErrPermission):
		return finding.Wrap(err, finding.SandboxForeignOwner, hint)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EROFS):
		return finding.Wrap(err, finding.InvalidArgument, hint)
	}
	return err
}

// isAt reports whether the locked file is still the one at a path.
func isAt(lock *flock.Flock, path string) bool {
	held, err := lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(held, there)
}
