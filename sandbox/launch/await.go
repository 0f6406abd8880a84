package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/control"
)

// pollInterval is how often a starting sandbox is asked how far it is.
const pollInterval = 150 * time.Millisecond

// answerTimeout is how long a supervisor may take until it answers for the first time.
const answerTimeout = 20 * time.Second

// absenceTimeout is how long a supervisor that holds its sandbox and does not answer may take to answer or to end.
const absenceTimeout = answerTimeout

// awaitAbsence returns when no supervisor holds the sandbox, and ErrAlreadyStarted when one answers: it may have been
// started by a command that was killed.
func (s Sandbox) awaitAbsence(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := control.NewClient(s.Dir)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if _, err := client.Status(ctx); err == nil {
			return ErrAlreadyStarted
		}
		free, err := s.supervisorIsGone()
		if err != nil || free {
			return err
		}
		select {
		case <-ctx.Done():
			err := fmt.Errorf("wait for the supervisor of sandbox %q, which does not respond: %w", s.Name, ctx.Err())
			return finding.Wrap(err, finding.SandboxComponentFailed, s.Command("down"))
		case <-tick.C:
		}
	}
}

func (s Sandbox) supervisorIsGone() (bool, error) {
	lock := flock.New(s.Dir.Lock())
	locked, err := lock.TryLock()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return true, nil // the directory is not made yet
	}
	if err = errors.Join(err, lock.Close()); err != nil {
		return false, fmt.Errorf("find the supervisor of sandbox %q: %w", s.Name, err)
	}
	return locked, nil
}

// awaitAnswer waits until the supervisor answers on its socket, or is gone; what it then said begins at logged.
func (s Sandbox) awaitAnswer(ctx context.Context, exited <-chan error, logged int64) error {
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
			return s.ended("immediately", err, logged)
		case <-ctx.Done():
			err := fmt.Errorf("wait for the sandbox's supervisor: %w", ctx.Err())
			return finding.Wrap(err, finding.SandboxComponentFailed, s.Command("logs supervisor"))
		case <-tick.C:
		}
	}
}

// ended is the error of a supervisor that is gone, with the last line of its log after logged bytes; exit may be nil.
func (s Sandbox) ended(when string, exit error, logged int64) error {
	if exit != nil {
		when += fmt.Sprintf(" (%v)", exit)
	}
	err := fmt.Errorf("the supervisor of the sandbox exited %s: %s", when, lastLine(s.Dir.Log("supervisor"), logged))
	return finding.Wrap(err, finding.SandboxComponentFailed, s.Command("logs supervisor"))
}

// Await follows a starting sandbox until it runs or has failed. observe is called with every status seen.
func (s Sandbox) Await(ctx context.Context, observe func(*control.Status)) (*control.Status, error) {
	client := control.NewClient(s.Dir)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for failures := 0; ; {
		status, err := client.Status(ctx)
		switch {
		case err == nil:
			failures = 0
			observe(status)
			if over, err := s.verdict(status); over {
				return status, err
			}
		case errors.Is(err, control.ErrNotRunning):
			return nil, s.ended("while the sandbox was starting", nil, 0)
		default:
			// One that dies breaks off its answer; the next request shows it.
			if failures++; failures > 1 || ctx.Err() != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return status, ctx.Err()
		case <-tick.C:
		}
	}
}

// verdict reports whether a start is over, and the error it ended with.
func (s Sandbox) verdict(status *control.Status) (over bool, err error) {
	switch status.Phase {
	case control.Running:
		return true, nil
	case control.Failed:
		return true, finding.Wrap(errors.New(status.Message), finding.Code(status.Code), s.hint(status))
	case control.Stopping:
		return true, errors.New("the sandbox is being stopped")
	}
	return false, nil
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

// maxLastLine is how much of a log's end is looked at for its last line.
const maxLastLine = 4 << 10

// lastLine returns the last line of a log that has grown since it was from bytes long.
func lastLine(path string, from int64) string {
	file, err := os.Open(path)
	if err != nil {
		return "failed to read its log"
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return "failed to read its log"
	}
	from = max(from, info.Size()-maxLastLine)
	data, err := io.ReadAll(io.NewSectionReader(file, from, maxLastLine))
	if err != nil {
		return "failed to read its log"
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return "its log is empty"
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}
