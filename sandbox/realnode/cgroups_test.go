package realnode

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheViewHasTheMachinesShape: links such as cpu for cpu,cpuacct are there too.
func TestTheViewHasTheMachinesShape(t *testing.T) {
	m := newMachine(t)
	m.hierarchies(t, "cpu,cpuacct", "memory")
	must(t, os.Symlink("cpu,cpuacct", filepath.Join(m.Root, "sys/fs/cgroup/cpu")))
	view := filepath.Join(t.TempDir(), "view")
	for range 2 {
		must(t, m.prepareView(view))
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
