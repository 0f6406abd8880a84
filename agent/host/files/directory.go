package files

import (
	"os"
	"syscall"
)

// Counting is a tree that tells how many directories are in one without listing them.
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
	file, err := r.root.Open(path)
	if err != nil {
		return nil, err
	}
	return &heldDirectory{File: file, fd: int(file.Fd())}, nil
}

type heldDirectory struct {
	*os.File
	fd   int
	stat syscall.Stat_t
}

// Links implements Directory.
func (d *heldDirectory) Links() (uint64, error) {
	if err := syscall.Fstat(d.fd, &d.stat); err != nil {
		return 0, &os.PathError{Op: "stat", Path: d.Name(), Err: err}
	}
	return uint64(d.stat.Nlink), nil
}
