package realnode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// prepareView makes a directory for each hierarchy below view, for its cgroup to be mounted on, and the links that the machine
// has beside them, such as cpu for cpu,cpuacct.
func (h Host) prepareView(view string) error {
	if err := os.MkdirAll(view, 0o755); err != nil {
		return fmt.Errorf("make the view of cgroups: %w", err)
	}
	tree, err := h.cgroups()
	if err != nil || tree.Unified() {
		return err
	}
	entries, err := os.ReadDir(h.cgroupMount())
	if err != nil {
		return fmt.Errorf("list cgroup hierarchies: %w", err)
	}
	for _, entry := range entries {
		path := filepath.Join(view, entry.Name())
		if entry.IsDir() {
			err = os.Mkdir(path, 0o755)
		} else if target, linkErr := os.Readlink(filepath.Join(h.cgroupMount(), entry.Name())); linkErr == nil {
			err = os.Symlink(filepath.Base(target), path)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make the view of cgroups: %w", err)
		}
	}
	return nil
}
