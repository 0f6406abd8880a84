package livecgroup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/test/eventually"
)

// mount is where the machine has its cgroups.
const mount = "/sys/fs/cgroup"

// Tree is the cgroups of the machine, at their mount point, for one test.
type Tree struct {
	*files.Real
	// Version that is mounted.
	Version cgroup.Version
	// Root is a cgroup that the test has for itself; it goes with the test, and all below it.
	Root string
	// CPUs are all that the machine has.
	CPUs cpuset.CPUSet

	t testing.TB
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
	needed := "cpuset/cpuset.cpus"
	if real.Exists("cgroup.controllers") {
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
	tree.Make(tree.Root)
	return tree
}

// Layout is that of a kubelet whose --cgroup-root is the test's cgroup.
func (t *Tree) Layout() cgroup.Layout {
	return cgroup.Layout{Version: t.Version, Driver: cgroup.Cgroupfs, Parent: t.Root}
}

// Make makes a cgroup, and those above it, as kubelet does: with CPUs in version 1, with controllers for those below it in
// version 2. The test's end removes what was made.
func (t *Tree) Make(path string) {
	t.t.Helper()
	at := ""
	for name := range strings.SplitSeq(path, "/") {
		above := at
		at = filepath.Join(at, name)
		if t.Version == cgroup.V2 {
			t.delegate(above)
		}
		made := false
		for _, hierarchy := range t.hierarchies() {
			made = t.makeIn(hierarchy, at) || made
		}
		if made && t.Version == cgroup.V1 {
			t.inherit(above, at)
		}
	}
}

// makeIn reports whether the cgroup was not there before.
func (t *Tree) makeIn(hierarchy, at string) bool {
	t.t.Helper()
	directory := filepath.Join(mount, hierarchy, at)
	err := os.Mkdir(directory, 0o755)
	if errors.Is(err, os.ErrExist) {
		return false
	}
	if err != nil {
		t.t.Fatal(err)
	}
	t.t.Cleanup(func() { t.remove(directory) }) // those below it go before
	return true
}

// remove waits for the tasks that were in a cgroup: one that was killed leaves it a moment later.
func (t *Tree) remove(directory string) {
	eventually.True(t.t, "cgroup "+directory+" is removed", func() bool {
		err := os.Remove(directory)
		return err == nil || errors.Is(err, os.ErrNotExist)
	})
}

// controllers that kubelet wants of version 2, as far as the kernel has them.
var controllers = []string{"cpu", "cpuset", "memory", "io", "pids"}

// delegate has the cgroups in one be controlled.
func (t *Tree) delegate(path string) {
	t.t.Helper()
	available, err := t.Read(filepath.Join(path, "cgroup.controllers"), nil)
	if err != nil {
		t.t.Fatal(err)
	}
	enabled, err := t.Read(filepath.Join(path, "cgroup.subtree_control"), nil)
	if err != nil {
		t.t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(available)) {
		if !slices.Contains(controllers, name) || slices.Contains(strings.Fields(string(enabled)), name) {
			continue
		}
		if err := t.Write(filepath.Join(path, "cgroup.subtree_control"), "+"+name); err != nil {
			t.t.Fatal(err)
		}
	}
}

// inherit gives a cgroup of version 1 the CPUs and memory of the one above it, without which it takes no task.
func (t *Tree) inherit(above, at string) {
	t.t.Helper()
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		content, err := t.Read(filepath.Join("cpuset", above, file), nil)
		if err == nil {
			err = t.Write(filepath.Join("cpuset", at, file), string(content))
		}
		if err != nil {
			t.t.Fatal(err)
		}
	}
}

// hierarchies that cgroups are made in.
func (t *Tree) hierarchies() []string {
	if t.Version == cgroup.V2 {
		return []string{""}
	}
	var out []string
	for _, name := range []string{"cpu", "cpuacct", "cpuset", "memory", "blkio"} {
		if t.Exists(name) {
			out = append(out, name)
		}
	}
	return out
}

// Enter puts a process into a cgroup.
func (t *Tree) Enter(path string, pid int) {
	t.t.Helper()
	for _, hierarchy := range t.hierarchies() {
		if err := t.Write(filepath.Join(hierarchy, path, "cgroup.procs"), fmt.Sprint(pid)); err != nil {
			t.t.Fatal(err)
		}
	}
}
