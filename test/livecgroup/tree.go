package livecgroup

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/sandbox/cgrouptree"
	"koordinator.sh/koord/test/eventually"
)

// mount is where the machine has its cgroups.
const mount = cgrouptree.Mount

// Tree is the cgroups of the machine, at their mount point, for one test.
type Tree struct {
	*files.Real
	// Version that is mounted.
	Version cgroup.Version
	// Root is a cgroup that the test has for itself; it goes with the test, and all below it.
	Root string
	// CPUs are all that the machine has.
	CPUs cpuset.CPUSet

	cgroups *cgrouptree.Tree
	t       testing.TB
}

// Open returns the machine's cgroups, and skips the test where it may not write them.
func Open(t testing.TB) *Tree {
	t.Helper()
	real, err := files.NewReal(mount)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = real.Close() }) // nothing is buffered
	tree := &Tree{Real: real, Version: cgroup.V1, t: t, Root: fmt.Sprintf("koord-test-%d", os.Getpid())}
	if tree.cgroups, err = cgrouptree.Open(mount, "cpu", "cpuacct", "cpuset", "memory", "blkio"); err != nil {
		t.Skip(err)
	}
	needed := "cpuset/cpuset.cpus"
	if tree.cgroups.Unified() {
		tree.Version, needed = cgroup.V2, "cgroup.subtree_control"
	}
	if os.Geteuid() != 0 || !real.Exists(needed) {
		t.Skip("needs root and cgroups that can be written")
	}
	online, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err == nil {
		tree.CPUs, err = cpuset.Parse(string(bytes.TrimSpace(online)))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), eventually.Timeout)
		defer cancel()
		if err := tree.cgroups.Remove(ctx, tree.Root); err != nil {
			t.Error(err)
		}
	})
	tree.Make(tree.Root)
	return tree
}

// Layout is that of a kubelet whose --cgroup-root is the test's cgroup.
func (t *Tree) Layout() cgroup.Layout {
	return cgroup.Layout{Version: t.Version, Driver: cgroup.Cgroupfs, Parent: t.Root}
}

// Make makes a cgroup, and those above it, as kubelet does: with CPUs in version 1, with controllers in version 2. The test's end
// removes what was made.
func (t *Tree) Make(path string) {
	t.t.Helper()
	if err := t.cgroups.Make(path); err != nil {
		t.t.Fatal(err)
	}
}

// Enter puts a process into a cgroup.
func (t *Tree) Enter(path string, pid int) {
	t.t.Helper()
	if err := t.cgroups.Enter(path, pid); err != nil {
		t.t.Fatal(err)
	}
}
