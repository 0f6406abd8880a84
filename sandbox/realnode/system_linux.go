package realnode

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// onOverlay reports whether a path, or the nearest directory above it that exists, lies on an overlay file system.
func onOverlay(path string) bool {
	var stat unix.Statfs_t
	for unix.Statfs(path, &stat) != nil {
		above := filepath.Dir(path)
		if above == path {
			return false
		}
		path = above
	}
	return stat.Type == unix.OVERLAYFS_SUPER_MAGIC
}

// isGone reports whether an error says that a file, or the cgroup or process it told of, does not exist any more.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ESRCH)
}

func isNotEmpty(err error) bool { return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EBUSY) }

// removeDirectory removes a directory and nothing else: the files of a cgroup go with it.
func removeDirectory(path string) error {
	if err := unix.Rmdir(path); err != nil && !isGone(err) {
		return fmt.Errorf("remove directory %q: %w", path, err)
	}
	return nil
}

// signal sends a signal to processes that may have ended already.
func signal(pids []int, s unix.Signal) {
	for _, pid := range pids {
		_ = unix.Kill(pid, s) // it may be gone
	}
}
