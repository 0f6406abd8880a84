package files

// Tree names one of the trees that a kernel shows itself by.
type Tree int

// The trees.
const (
	// Cgroup is what is at /sys/fs/cgroup.
	Cgroup Tree = iota
	// Proc is what is at /proc.
	Proc
	// Sys is what is at /sys.
	Sys
)

// Prefix is what stands before the path of a file in records of all trees: nothing for cgroups.
func (t Tree) Prefix() string {
	switch t {
	case Proc:
		return "proc/"
	case Sys:
		return "sys/"
	}
	return ""
}

// Subtree is one directory of a tree that is kept open: what takes its name after it has gone is not reached through it.
type Subtree interface {
	FS
	// Close releases it.
	Close() error
}

// Opener is a tree whose directories can be opened as trees.
type Opener interface {
	// OpenSubtree opens a directory. It must be closed.
	OpenSubtree(path string) (Subtree, error)
}

// OpenSubtree implements Opener. The files of a process that has ended give ESRCH, even when another got its number.
func (r *Real) OpenSubtree(path string) (Subtree, error) {
	root, err := r.root.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Real{root: root}, nil
}
