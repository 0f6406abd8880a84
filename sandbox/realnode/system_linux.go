package realnode

import (
	"errors"
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

func isNotEmpty(err error) bool { return errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EBUSY) }

// signal sends a signal to processes that may have ended already.
func signal(pids []int, s unix.Signal) {
	for _, pid := range pids {
		_ = unix.Kill(pid, s) // it may be gone
	}
}
