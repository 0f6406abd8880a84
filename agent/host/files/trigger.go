package files

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// OpenTrigger opens a pressure file and sets a trigger on it, such as "some 5000 500000": poll then reports priority data on the
// descriptor when some task waited for 5 of 500 milliseconds. The trigger ends when the caller closes the descriptor. It is not an
// os.File, because the runtime would poll it as well, and the kernel reports each event once.
func (r *Real) OpenTrigger(path, threshold string) (descriptor int, err error) {
	directory, err := r.root.Open(".")
	if err != nil {
		return 0, err
	}
	defer func() { _ = directory.Close() }() // nothing was written
	how := unix.OpenHow{Flags: unix.O_RDWR | unix.O_NONBLOCK | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH}
	descriptor, err = unix.Openat2(int(directory.Fd()), path, &how)
	if err != nil {
		return 0, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	if _, err := unix.Write(descriptor, append([]byte(threshold), 0)); err != nil {
		return 0, errors.Join(&fs.PathError{Op: "write", Path: path, Err: err}, unix.Close(descriptor))
	}
	return descriptor, nil
}
