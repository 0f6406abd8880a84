package files

import (
	"io/fs"
	"syscall"
)

// Counting is a tree that counts the directories in a directory without listing them.
type Counting interface {
	// OpenDirectory keeps a directory open. It must be closed.
	OpenDirectory(path string) (Directory, error)
}

// Directory is one that is kept open. One goroutine at a time may use it.
type Directory interface {
	// Links returns a number that differs when the number of directories in this one does, and allocates nothing.
	Links() (uint64, error)
	// Close releases it.
	Close() error
}

// OpenDirectory implements Counting.
func (r *Real) OpenDirectory(path string) (Directory, error) {
	descriptor, err := r.descriptor(path)
	if err != nil {
		return nil, err
	}
	return &heldDirectory{held{descriptor: descriptor, path: path}}, nil
}

type heldDirectory struct{ held }

// Links implements Directory.
func (d *heldDirectory) Links() (uint64, error) {
	var stat syscall.Stat_t
	if err := syscall.Fstat(d.descriptor, &stat); err != nil {
		return 0, &fs.PathError{Op: "stat", Path: d.path, Err: err}
	}
	return uint64(stat.Nlink), nil //nolint:unconvert // it has 32 bits on arm64
}
