package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// smallest is the room that a buffer starts with; most kernel files have less than that.
const smallest = 4096

// Real is a tree of the running kernel.
type Real struct {
	root *os.Root
}

// NewReal opens the tree at a directory. It must be closed.
func NewReal(directory string) (*Real, error) {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, fmt.Errorf("open kernel files: %w", err)
	}
	return &Real{root: root}, nil
}

// Location is the directory that the tree was opened at.
func (r *Real) Location() string { return r.root.Name() }

// Close releases the tree; files that are open stay so.
func (r *Real) Close() error { return r.root.Close() }

// Read implements FS.
func (r *Real) Read(path string, buffer []byte) ([]byte, error) {
	file, err := r.root.Open(path)
	if err != nil {
		return nil, err
	}
	content, err := readAll(file, buffer)
	return content, errors.Join(err, file.Close())
}

// Write implements FS.
func (r *Real) Write(path, value string) error {
	file, err := r.root.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return errors.Join(writeOnce(file, value), file.Close())
}

// writeOnce makes the call itself. Kernel files can be waited for, so os.File takes EAGAIN for a file that is not ready and waits
// until it is: for memory.reclaim, which says so that there was less to reclaim than was asked for, that would be forever.
func writeOnce(file *os.File, value string) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var written int
	controlErr := raw.Control(func(descriptor uintptr) {
		for {
			if written, err = syscall.Write(int(descriptor), []byte(value)); !errors.Is(err, syscall.EINTR) {
				return
			}
		}
	})
	switch {
	case controlErr != nil:
		return controlErr
	case err == nil && written < len(value):
		err = io.ErrShortWrite
	}
	if err != nil {
		return &fs.PathError{Op: "write", Path: file.Name(), Err: err}
	}
	return nil
}

// Open implements FS.
func (r *Real) Open(path string) (File, error) {
	descriptor, err := r.descriptor(path)
	if err != nil {
		return nil, err
	}
	return &held{descriptor: descriptor, path: path}, nil
}

// descriptor of a file that is kept open. It is no os.File, of which the runtime keeps much, listens to it, and asks the kernel not to
// block each time the descriptor is looked at: an agent keeps a thousand of them open and reads them every second.
func (r *Real) descriptor(path string) (int, error) {
	file, err := r.root.Open(path)
	if err != nil {
		return -1, err
	}
	descriptor, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err := errors.Join(err, file.Close()); err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return descriptor, nil
}

// Directories implements FS.
func (r *Real) Directories(path string) ([]string, error) {
	directory, err := r.root.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = directory.Close() }() // nothing was written
	entries, err := directory.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// Exists implements FS.
func (r *Real) Exists(path string) bool {
	_, err := r.root.Stat(path)
	return err == nil
}

// held reads from the beginning each time, which makes the kernel generate the content again.
type held struct {
	// descriptor is -1 once it was closed.
	descriptor int
	path       string
}

// Close implements File.
func (h *held) Close() error {
	descriptor := h.descriptor
	if h.descriptor = -1; descriptor < 0 {
		return &fs.PathError{Op: "close", Path: h.path, Err: fs.ErrClosed}
	}
	return unix.Close(descriptor)
}

// Read takes what one call of the kernel gives: statistics are written as a whole, and asking for more would have the kernel
// write them a second time.
func (h *held) Read(buffer []byte) ([]byte, error) {
	if h.descriptor < 0 {
		return nil, &fs.PathError{Op: "read", Path: h.path, Err: fs.ErrClosed}
	}
	if cap(buffer) == 0 {
		buffer = make([]byte, 0, smallest)
	}
	for {
		buffer = buffer[:cap(buffer)]
		n, err := syscall.Pread(h.descriptor, buffer, 0)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: h.path, Err: err}
		case n < len(buffer):
			return buffer[:n], nil
		}
		buffer = append(buffer, 0)
	}
}

// readAll reads a file from its beginning. Kernel files have no size to be known before.
func readAll(file *os.File, buffer []byte) ([]byte, error) {
	if cap(buffer) == 0 {
		buffer = make([]byte, 0, smallest)
	}
	buffer = buffer[:0]
	for {
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
		}
		n, err := file.ReadAt(buffer[len(buffer):cap(buffer)], int64(len(buffer)))
		buffer = buffer[:len(buffer)+n]
		if errors.Is(err, io.EOF) {
			return buffer, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// IsGone reports whether an error says that a file, or the cgroup or process that it is of, does not exist.
func IsGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) || errors.Is(err, syscall.ESRCH)
}
