package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ForeignOwnerError means that the directory belongs to another user.
type ForeignOwnerError struct {
	Path string
	UID  uint32
}

// Error names the directory and its owner.
func (e *ForeignOwnerError) Error() string {
	return fmt.Sprintf("use directory %q: it belongs to user %d", e.Path, e.UID)
}

// CheckOwner returns a ForeignOwnerError when the nearest directory that can be seen on the way to the sandbox's belongs
// to a user who is neither the caller nor root, or when it is root's and closed to the caller.
func (d Dir) CheckOwner(uid int) error {
	closed := false
	above := func(err error) bool { // whether to look at the directory above
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR)
	}
	for path := d.path; ; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		closed = closed || errors.Is(err, fs.ErrPermission)
		if above(err) && path != filepath.Dir(path) {
			continue
		}
		if err != nil {
			return fmt.Errorf("check directory %q: %w", path, err)
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if ok && int(stat.Uid) != uid && (stat.Uid != 0 || closed) {
			return &ForeignOwnerError{Path: path, UID: stat.Uid}
		}
		return nil
	}
}

// MinFreeBytes is the disk space a sandbox needs before it starts.
const MinFreeBytes = 512 << 20

// DiskFullError means that the file system of the state directory has too little space left.
type DiskFullError struct {
	Path      string
	FreeBytes uint64
}

// Error names the directory and what is left.
func (e *DiskFullError) Error() string {
	return fmt.Sprintf("use directory %q: %d MiB free, %d MiB needed", e.Path, e.FreeBytes>>20, MinFreeBytes>>20)
}

// CheckSpace returns a DiskFullError when less than MinFreeBytes are left. The directory must exist.
func (d Dir) CheckSpace() error {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(d.path, &stat); err != nil {
		return fmt.Errorf("check the file system of %q: %w", d.path, err)
	}
	if free := stat.Bavail * uint64(stat.Bsize); free < MinFreeBytes {
		return &DiskFullError{Path: d.path, FreeBytes: free}
	}
	return nil
}
