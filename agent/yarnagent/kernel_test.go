package yarnagent

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/test/eventually"
)

// TestOnTheRealKernel: cgroups are made, entered, measured and removed in the kernel's own tree, below a cgroup of the test's.
func TestOnTheRealKernel(t *testing.T) {
	tree, err := files.NewReal("/sys/fs/cgroup")
	if err != nil {
		t.Skip("no cgroups: ", err)
	}
	t.Cleanup(func() { _ = tree.Close() })
	layout := cgroup.Layout{Version: cgroup.V1, Driver: cgroup.Cgroupfs, Parent: fmt.Sprintf("koord-yarn-agent-test-%d", os.Getpid())}
	if tree.Exists("cgroup.controllers") {
		layout.Version = cgroup.V2
	}
	r := &rig{T: t, manager: newManager(t)}
	r.agent = r.on(tree, layout)
	makeKubelet(t, tree, r.groups, layout)
	r.manager.has(first, 1, 512)
	task := r.start(first, "sh", "-c", "while :; do :; done")
	client := r.serve()
	got, err := client.Containers(t.Context())
	if err != nil || len(got) != 1 {
		t.Fatalf("containers = %v, %v", names(got), err)
	}
	member, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", task.Process.Pid))
	if err != nil || strings.Count(string(member), layout.HadoopYARN()+"/"+first) < len(r.groups.hierarchies(r.groups.of(first))) {
		t.Errorf("the process is in\n%s%v", member, err)
	}
	eventually.True(t, "the CPU time of the container is measured", func() bool {
		used := r.groups.cpuTime(first)
		return used != nil && *used > 0
	})
	if err := client.Kill(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	r.manager.set(func(m *manager) { m.tasks = nil })
	r.synchronize(t.Context())
	for _, directory := range r.groups.hierarchies(r.groups.of(first)) {
		if tree.Exists(directory) {
			t.Errorf("%s is left", directory)
		}
	}
}

// makeKubelet makes the cgroups that kubelet would, and removes them in the end.
func makeKubelet(t *testing.T, tree Tree, g groups, layout cgroup.Layout) {
	t.Helper()
	var made []string
	t.Cleanup(func() {
		for _, directory := range slices.Backward(made) {
			if err := tree.RemoveDirectory(directory); err != nil {
				t.Errorf("remove what the test made: %v", err)
			}
		}
	})
	roots := []string{""}
	if layout.Version == cgroup.V1 {
		roots = []string{"blkio", "cpu", "cpuacct", "cpuset", "memory"}
	}
	for _, at := range []string{layout.Parent, layout.Kubepods(), filepath.Join(layout.Kubepods(), "besteffort"), layout.HadoopYARN()} {
		for _, root := range roots {
			if root != "" && !tree.Exists(root) {
				continue
			}
			if err := tree.MakeDirectory(path.Join(root, at)); err != nil {
				t.Skipf("no cgroup can be made: %v", err)
			}
			made = append(made, path.Join(root, at))
		}
		g.inherit(at)
		if layout.Version == cgroup.V2 {
			for _, controller := range []string{"cpu", "memory", "cpuset", "io", "pids"} {
				_ = tree.Write(path.Join(at, "cgroup.subtree_control"), "+"+controller) // what the machine lets the test have
			}
		}
	}
}
