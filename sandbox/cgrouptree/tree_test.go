package cgrouptree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// machine is a directory with files as the kernel has them. It keeps what is written last, and removes nothing by itself.
type machine struct {
	root string
	t    *testing.T
}

func newMachine(t *testing.T) *machine {
	if runtime.GOOS != "linux" {
		t.Skip("cgroups need Linux")
	}
	return &machine{root: t.TempDir(), t: t}
}

func (m *machine) write(name, content string) {
	m.t.Helper()
	path := filepath.Join(m.root, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o644)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *machine) read(name string) string {
	m.t.Helper()
	content, err := os.ReadFile(filepath.Join(m.root, name))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(content)
}

func (m *machine) has(name string) bool {
	_, err := os.Stat(filepath.Join(m.root, name))
	return err == nil
}

func (m *machine) open(names ...string) *Tree {
	m.t.Helper()
	tree, err := Open(m.root, names...)
	if err != nil {
		m.t.Fatal(err)
	}
	return tree
}

// version1 is a machine with hierarchies of version 1.
func version1(t *testing.T, hierarchies ...string) *machine {
	m := newMachine(t)
	for _, name := range hierarchies {
		m.write(name+"/cgroup.procs", "1\n2\n")
	}
	return m
}

func TestACgroupIsMadeInEveryHierarchy(t *testing.T) {
	m := version1(t, "cpu,cpuacct", "cpuset", "unified")
	if err := os.Symlink("cpu,cpuacct", filepath.Join(m.root, "cpu")); err != nil {
		t.Fatal(err)
	}
	m.write("cpuset/cpuset.cpus", "0-3\n")
	m.write("cpuset/cpuset.mems", "0\n")
	m.write("rdma/other", "") // mounted without what makes it a hierarchy
	tree := m.open()
	if diff := cmp.Diff([]string{"cpu,cpuacct", "cpuset", "unified"}, tree.Hierarchies()); diff != "" {
		t.Errorf("hierarchies (-want +got):\n%s", diff)
	}
	for range 2 { // also where it is there already
		if err := errors.Join(tree.Make("koord/kubepods"), tree.Delegate("koord/kubepods")); err != nil {
			t.Fatal(err)
		}
	}
	for _, hierarchy := range tree.Hierarchies() {
		if !m.has(hierarchy + "/koord/kubepods") {
			t.Errorf("there is no cgroup in %s", hierarchy)
		}
	}
	for _, at := range []string{"cpuset/koord", "cpuset/koord/kubepods"} {
		if got := m.read(at + "/cpuset.cpus"); got != "0-3\n" {
			t.Errorf("CPUs of %s = %q, want those of the machine", at, got)
		}
	}
	if diff := cmp.Diff([]string{"cpu", "cpuset"}, m.open("cpu", "cpuset", "absent").Hierarchies()); diff != "" {
		t.Errorf("named hierarchies (-want +got):\n%s", diff)
	}
}

func TestACgroupOfVersion2HasTheControllersOfTheMachine(t *testing.T) {
	m := newMachine(t)
	m.write("cgroup.controllers", "cpuset cpu io memory pids rdma\n")
	for _, at := range []string{".", "koord", "koord/kubepods"} {
		m.write(at+"/cgroup.subtree_control", "")
	}
	tree := m.open()
	if !tree.Unified() || len(tree.Hierarchies()) != 1 {
		t.Errorf("unified is %t, hierarchies are %q", tree.Unified(), tree.Hierarchies())
	}
	const all = "+cpu +cpuset +io +memory +pids"
	for _, step := range []struct {
		do   func(string) error
		want string // of the cgroup itself
	}{{tree.Make, ""}, {tree.Delegate, all}} {
		if err := step.do("koord/kubepods"); err != nil {
			t.Fatal(err)
		}
		for at, want := range map[string]string{".": all, "koord": all, "koord/kubepods": step.want} {
			if got := m.read(at + "/cgroup.subtree_control"); got != want {
				t.Errorf("controllers of those below %s are %q, want %q", at, got, want)
			}
		}
	}
}

func TestProcessesOfACgroup(t *testing.T) {
	m := version1(t, "cpu", "memory")
	m.write("cpu/koord/cgroup.procs", "")
	m.write("cpu/koord/kubepods/pod1/cgroup.procs", "300\n20\n")
	m.write("memory/koord/kubepods/pod1/cgroup.procs", "300\n0\n41\n")
	m.write("memory/koord/cgroup.procs", "1\n")
	m.write("memory/other/cgroup.procs", "77\n")
	unified := newMachine(t)
	unified.write("cgroup.controllers", "")
	unified.write("koord/cgroup.procs", "0\n41\n")
	unified.write("koord/kubepods/pod1/cgroup.procs", "300\n20\n")
	for _, tree := range []*Tree{m.open(), unified.open()} {
		got, err := tree.Processes("koord")
		if diff := cmp.Diff([]int{20, 41, 300}, got); diff != "" || err != nil {
			t.Errorf("error %v, processes (-want +got):\n%s", err, diff)
		}
		if none, err := tree.Processes("absent"); err != nil || len(none) != 0 {
			t.Errorf("processes of a cgroup that does not exist = %v, %v; want none", none, err)
		}
	}
}

func TestCgroupsAreRemovedFromTheBottom(t *testing.T) {
	m := version1(t, "cpu", "memory")
	for _, at := range []string{"cpu/koord/kubepods/pod1", "memory/koord"} {
		if err := os.MkdirAll(filepath.Join(m.root, at), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tree := m.open()
	for range 2 { // also where there is none
		if err := tree.Remove(t.Context(), "koord"); err != nil {
			t.Fatal(err)
		}
	}
	if m.has("cpu/koord") || m.has("memory/koord") {
		t.Error("a cgroup is left")
	}
	m.write("cpu/koord/pod/cgroup.procs", "77\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tree.Remove(ctx, "koord"); err == nil || !m.has("cpu/koord/pod") {
		t.Errorf("a cgroup with a process is removed: %v", err)
	}
}

// TestTheRootIsNotTouched nor anything that a path leads to outside of it.
func TestTheRootIsNotTouched(t *testing.T) {
	m := version1(t, "cpu")
	m.write("cpu/other/some", "")
	tree := m.open()
	for _, at := range []string{"", ".", "/", "..", "../cpu", "koord/..", "/koord", "koord/../other"} {
		_, listErr := tree.Processes(at)
		for what, err := range map[string]error{
			"make": tree.Make(at), "delegate": tree.Delegate(at), "enter": tree.Enter(at, os.Getpid()), "kill": tree.Kill(at),
			"remove": tree.Remove(t.Context(), at), "list": listErr,
		} {
			if !errors.Is(err, errNoCgroup) {
				t.Errorf("%s %q: error %v", what, at, err)
			}
		}
	}
	if !m.has("cpu/other/some") || !m.has("cpu/cgroup.procs") {
		t.Error("something of the machine's was removed")
	}
}
