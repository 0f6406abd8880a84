package resctrl

import (
	"errors"
	"fmt"
	"os"

	"koordinator.sh/koord/agent/host/files"
)

// Tree is what is mounted at /sys/fs/resctrl. Groups are directories in its root.
type Tree interface {
	files.FS
	// Make makes a group. ENOSPC says that the processor has no room for another one.
	Make(group string) error
	// Remove removes a group; its processes are in the root group then.
	Remove(group string) error
	// Close releases the tree.
	Close() error
}

// Real is the tree of the running kernel.
type Real struct {
	*files.Real
	root *os.Root
}

var _ Tree = (*Real)(nil)

// Open opens the tree at a directory, mounted or not. It must be closed, and opened again to see that something was mounted there.
func Open(directory string) (*Real, error) {
	tree, err := files.NewReal(directory)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open resctrl: %w", err), tree.Close())
	}
	return &Real{Real: tree, root: root}, nil
}

// Make implements Tree.
func (r *Real) Make(group string) error { return r.root.Mkdir(group, 0o755) }

// Remove implements Tree.
func (r *Real) Remove(group string) error { return r.root.Remove(group) }

// Close implements Tree.
func (r *Real) Close() error { return errors.Join(r.root.Close(), r.Real.Close()) }
