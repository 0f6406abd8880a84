package kubelet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// Files of kubelet's directory that are read.
const (
	ConfigurationFile = "config.yaml"
	StateFile         = "cpu_manager_state"
)

// CopyOptions say which files are copied, and how often.
type CopyOptions struct {
	// From is kubelet's directory, and To where the copies are.
	From, To string
	// Every is the time between two looks; 0 looks once.
	Every time.Duration
	Clock clock.WithTicker
}

// Copy copies the files that the agent reads of kubelet's directory, for an agent that may not see the rest of it: the secrets of all
// pods, and kubelet's own key. It goes on until the context ends, or ends after one look, whose error it returns then.
func Copy(ctx context.Context, o CopyOptions) error {
	if err := keepPrivate(); err != nil {
		return fmt.Errorf("keep this process from being looked into: %w", err)
	}
	err := o.once()
	if o.Every <= 0 {
		return err
	}
	ticker := o.Clock.NewTicker(o.Every)
	defer ticker.Stop()
	for failing := false; ; err = o.once() {
		if err != nil && !failing {
			klog.FromContext(ctx).Error(err, "Failed to copy kubelet's files, keeping the previous copies")
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

func (o CopyOptions) once() error {
	return errors.Join(o.copy(ConfigurationFile), o.copy(StateFile))
}

// copy a file where it differs. A file that is gone has no copy.
func (o CopyOptions) copy(name string) error {
	from, to := filepath.Join(o.From, name), filepath.Join(o.To, name)
	content, err := read(from)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the copy of %q: %w", from, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("copy %q: %w", from, err)
	}
	if before, err := read(to); err == nil && bytes.Equal(before, content) {
		return nil
	}
	// The reader sees the copy before or the new one.
	beside := to + ".new"
	if err := errors.Join(os.WriteFile(beside, content, 0o600), os.Rename(beside, to)); err != nil {
		return fmt.Errorf("copy %q: %w", from, err)
	}
	return nil
}
