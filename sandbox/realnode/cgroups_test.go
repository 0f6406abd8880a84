package realnode

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestACgroupIsMadeInEveryHierarchy(t *testing.T) {
	m := newMachine(t)
	m.hierarchies(t, "cpu,cpuacct", "cpuset", "unified")
	must(t, os.Symlink("cpu,cpuacct", filepath.Join(m.Root, "sys/fs/cgroup/cpu")))
	m.write(t, "sys/fs/cgroup/cpuset/cpuset.cpus", "0-3\n")
	m.write(t, "sys/fs/cgroup/cpuset/cpuset.mems", "0\n")
	m.write(t, "sys/fs/cgroup/rdma/other", "") // mounted without what makes it a hierarchy
	for range 2 {                              // also where it is there already
		must(t, m.cgroups().create("koord"))
	}
	var got []string
	must(t, m.cgroups().walk("koord", func(dir string) error {
		relative, err := filepath.Rel(m.Root, dir)
		got = append(got, relative)
		return err
	}))
	want := []string{"sys/fs/cgroup/cpu,cpuacct/koord", "sys/fs/cgroup/cpuset/koord", "sys/fs/cgroup/unified/koord"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cgroups (-want +got):\n%s", diff)
	}
	if got := m.read(t, "sys/fs/cgroup/cpuset/koord/cpuset.cpus"); got != "0-3\n" {
		t.Errorf("CPUs = %q; want those of the machine", got)
	}
}

// TestACgroupOfVersion2 hands down what the machine has and does not hand down yet.
func TestACgroupOfVersion2(t *testing.T) {
	m := newMachine(t)
	m.write(t, "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids rdma\n")
	m.write(t, "sys/fs/cgroup/cgroup.subtree_control", "cpu io memory pids\n")
	m.write(t, "sys/fs/cgroup/koord/cgroup.subtree_control", "cpuset cpu io memory pids\n")
	must(t, m.cgroups().create("koord"))
	// A file keeps the last thing written, where the kernel would add it up.
	if got := m.read(t, "sys/fs/cgroup/cgroup.subtree_control"); got != "+cpuset" {
		t.Errorf("written to the root = %q; want what was missing", got)
	}
	if got := m.read(t, "sys/fs/cgroup/koord/cgroup.subtree_control"); got != "cpuset cpu io memory pids\n" {
		t.Errorf("written to the node's cgroup = %q; want nothing", got)
	}
}

func TestProcessesOfACgroup(t *testing.T) {
	m := newMachine(t)
	m.hierarchies(t, "cpu", "memory")
	m.write(t, "sys/fs/cgroup/cpu/koord/cgroup.procs", "")
	m.write(t, "sys/fs/cgroup/cpu/koord/kubepods/pod1/cgroup.procs", "300\n20\n")
	m.write(t, "sys/fs/cgroup/memory/koord/kubepods/pod1/cgroup.procs", "300\n0\n41\n")
	m.write(t, "sys/fs/cgroup/memory/koord/cgroup.procs", "1\n")
	m.write(t, "sys/fs/cgroup/memory/other/cgroup.procs", "77\n")
	got, err := m.cgroups().processes("koord")
	must(t, err)
	if diff := cmp.Diff([]int{20, 41, 300}, got); diff != "" {
		t.Errorf("processes (-want +got):\n%s", diff)
	}
	if none, err := m.cgroups().processes("absent"); err != nil || len(none) != 0 {
		t.Errorf("processes of a cgroup that does not exist = %v, %v; want none", none, err)
	}
}

func TestCgroupsAreRemovedFromTheBottom(t *testing.T) {
	m := newMachine(t)
	m.hierarchies(t, "cpu", "memory")
	must(t, os.MkdirAll(filepath.Join(m.Root, "sys/fs/cgroup/cpu/koord/kubepods/pod1"), 0o755))
	must(t, os.MkdirAll(filepath.Join(m.Root, "sys/fs/cgroup/memory/koord"), 0o755))
	for range 2 { // also where there is none
		must(t, m.cgroups().remove(t.Context(), "koord"))
	}
	if m.exists("sys/fs/cgroup/cpu/koord") || m.exists("sys/fs/cgroup/memory/koord") {
		t.Error("a cgroup is left")
	}
	// One that is in use, as a file in its directory makes it, stays until the patience is over.
	m.write(t, "sys/fs/cgroup/cpu/koord/pod/busy", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.cgroups().remove(ctx, "koord"); err == nil {
		t.Error("remove() of a cgroup in use = nil; want an error")
	}
}

// TestTheViewHasTheMachinesShape: links such as cpu for cpu,cpuacct are there too.
func TestTheViewHasTheMachinesShape(t *testing.T) {
	m := newMachine(t)
	m.hierarchies(t, "cpu,cpuacct", "memory")
	must(t, os.Symlink("cpu,cpuacct", filepath.Join(m.Root, "sys/fs/cgroup/cpu")))
	view := filepath.Join(t.TempDir(), "view")
	for range 2 {
		must(t, m.cgroups().prepareView(view))
	}
	entries, err := os.ReadDir(view)
	must(t, err)
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name()+" "+entry.Type().String())
	}
	if diff := cmp.Diff([]string{"cpu L---------", "cpu,cpuacct d---------", "memory d---------"}, got); diff != "" {
		t.Errorf("view (-want +got):\n%s", diff)
	}
	if target, err := os.Readlink(filepath.Join(view, "cpu")); err != nil || target != "cpu,cpuacct" {
		t.Errorf("link = %q, %v; want one inside the view", target, err)
	}
}

func TestShimsAreToldByTheirContainerd(t *testing.T) {
	m := newMachine(t)
	const socket = "/state/demo/real-node/containerd.sock"
	m.write(t, "proc/17/cmdline", "/opt/containerd-shim-runc-v2\x00-namespace\x00k8s.io\x00-address\x00"+socket+"\x00")
	m.write(t, "proc/18/cmdline", "/opt/containerd-shim-runc-v2\x00-address\x00/run/containerd/containerd.sock\x00")
	m.write(t, "proc/19/cmdline", "/usr/bin/grep\x00"+socket+"\x00")
	m.write(t, "proc/20/cmdline", "") // a zombie
	m.write(t, "proc/meminfo", "MemTotal: 1 kB\n")
	got, err := m.shims(socket)
	must(t, err)
	if diff := cmp.Diff([]int{17}, got); diff != "" {
		t.Errorf("shims (-want +got):\n%s", diff)
	}
}
