package cgrouptree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Mount is where machines have their cgroups.
const Mount = "/sys/fs/cgroup"

// controllersV2 are those that cgroups get of version 2, as far as the kernel has them: what kubelet and runc want.
var controllersV2 = []string{"cpu", "cpuset", "io", "memory", "pids", "hugetlb"}

// Tree is the hierarchies of cgroups below one directory. Paths of cgroups are relative to a hierarchy. All methods may be called at
// the same time.
type Tree struct {
	mount string
	// unified says that there is one hierarchy, of version 2.
	unified bool
	// names of the hierarchies' directories in version 1.
	names []string
}

// Open finds the hierarchies that are mounted below a directory. Those of version 1 can be narrowed down to some names. Links to
// them, such as cpu for cpu,cpuacct, are followed where they are named, and left out otherwise.
func Open(mount string, names ...string) (*Tree, error) {
	if isFile(filepath.Join(mount, "cgroup.controllers")) {
		return &Tree{mount: mount, unified: true}, nil
	}
	t := &Tree{mount: mount}
	entries, err := os.ReadDir(mount)
	if err != nil {
		return nil, fmt.Errorf("list cgroup hierarchies: %w", err)
	}
	for _, entry := range entries {
		wanted := entry.IsDir()
		if len(names) > 0 {
			wanted = slices.Contains(names, entry.Name())
		}
		if wanted && isFile(filepath.Join(mount, entry.Name(), "cgroup.procs")) {
			t.names = append(t.names, entry.Name())
		}
	}
	return t, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Unified says that cgroups are of version 2.
func (t *Tree) Unified() bool { return t.unified }

// Hierarchies are the names of their directories: the mount point itself in version 2.
func (t *Tree) Hierarchies() []string {
	if t.unified {
		return []string{""}
	}
	return slices.Clone(t.names)
}

// Make makes a cgroup in every hierarchy, and those above it, as kubelet does: in version 1 with the CPUs of the one above, and in
// version 2 with all controllers, for which they are switched on above it. They stay on, because another's cgroup may have come to
// use them.
func (t *Tree) Make(at string) error {
	return t.on(at, "make", func() error { return t.make(at) })
}

// Delegate has a cgroup of version 2 hand its controllers down to those below it. It takes no processes after that.
func (t *Tree) Delegate(at string) error {
	return t.on(at, "switch controllers on in", func() error { return t.delegate(at) })
}

// Enter puts a process into a cgroup, in every hierarchy.
func (t *Tree) Enter(at string, pid int) error {
	return t.on(at, "put a process into", func() error { return t.enter(at, pid) })
}

// Processes are those in a cgroup and below it, in any hierarchy, sorted. Those that the caller's PID namespace does not show are left
// out, and a cgroup that does not exist has none.
func (t *Tree) Processes(at string) (pids []int, err error) {
	err = t.on(at, "list the processes of", func() error {
		pids, err = t.processes(at)
		return err
	})
	return pids, err
}

// Kill sends SIGKILL to all processes in a cgroup and below it. In version 2 that is one step, which no process escapes by a fork; in
// version 1 it is to be repeated until there are none.
func (t *Tree) Kill(at string) error {
	return t.on(at, "kill the processes of", func() error { return t.kill(at) })
}

// removeInterval is how often a cgroup that is still in use is tried again.
const removeInterval = 20 * time.Millisecond

// Remove deletes a cgroup and those below it, in every hierarchy. It tries until ctx ends: the kernel lets go of a process a moment
// after its end.
func (t *Tree) Remove(ctx context.Context, at string) error {
	tick := time.NewTicker(removeInterval)
	defer tick.Stop()
	for {
		err := t.on(at, "remove", func() error { return t.remove(at) })
		if err == nil || errors.Is(err, errNoCgroup) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// errNoCgroup is for what would be a hierarchy's root or outside of it.
var errNoCgroup = errors.New("no path of a cgroup below the root")

// on checks the path of a cgroup before something is done to it: what is done to the root is done to the machine.
func (t *Tree) on(at, what string, do func() error) error {
	err := errNoCgroup
	if filepath.IsLocal(at) && at != "." && filepath.Clean(at) == at {
		err = do()
	}
	if err != nil {
		return fmt.Errorf("%s cgroup %q: %w", what, at, err)
	}
	return nil
}
