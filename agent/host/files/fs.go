package files

// FS is a tree of kernel files below one root. Paths are relative to it, with slashes, and cannot lead out of it, neither by dots nor
// by symbolic links. Errors are of type *fs.PathError and wrap the kernel's error: errors.Is distinguishes unix.ENOENT from
// unix.EINVAL. All methods may be called concurrently.
type FS interface {
	// Read returns the content of a file, in the buffer if it has the room and in a larger one otherwise.
	Read(path string, buffer []byte) ([]byte, error)
	// Write gives a value to a file that exists, in a single call of the kernel, which may refuse it; what was there before then
	// stays.
	Write(path, value string) error
	// Open keeps a file open to be read again and again. It must be one that the kernel writes as a whole, as statistics are,
	// and not a list of processes.
	Open(path string) (File, error)
	// Directories lists the names of the directories in one, in no order.
	Directories(path string) ([]string, error)
	// Exists reports whether there is a file or directory; false when that is unknown.
	Exists(path string) bool
}

// File is a file that is read again and again. One goroutine at a time may use it.
type File interface {
	// Read returns the content as it is at the moment, as FS.Read does. A file whose cgroup went gives ENODEV.
	Read(buffer []byte) ([]byte, error)
	// Close releases it.
	Close() error
}
