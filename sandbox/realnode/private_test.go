package realnode

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// left are the private paths that exist.
func (m *machine) left() []string {
	var left []string
	for _, private := range privatePaths {
		if m.exists(private) {
			left = append(left, private)
		}
	}
	return left
}

// TestMountPointsAreRemovedWhereTheyWereMade: what was there before, or has been used by others since, stays.
func TestMountPointsAreRemovedWhereTheyWereMade(t *testing.T) {
	m, n := usual(t), newNode(t)
	m.write(t, "var/lib/kubelet/config.yaml", "of another")
	for range 2 { // the second finds what the first has made
		must(t, m.makeMountPoints())
	}
	if diff := cmp.Diff(privatePaths, m.left()); diff != "" {
		t.Errorf("what can be mounted over (-want +got):\n%s", diff)
	}
	m.write(t, "var/lib/cni/results", "of another, who came later")
	for range 2 { // as after a failure
		must(t, m.removeMountPoints(n))
	}
	if diff := cmp.Diff([]string{"/var/lib/cni", "/var/lib/kubelet"}, m.left()); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	if m.exists("var/lib/cni", madeMark) {
		t.Error("a directory that others use is still marked")
	}
}

// TestMountPointsOfTwoSandboxes are removed with the last of them, whichever has made them.
func TestMountPointsOfTwoSandboxes(t *testing.T) {
	m, first, second := usual(t), newNode(t), newNode(t)
	second.Sandbox = "other"
	m.write(t, filepath.Join("sys/class/net", first.Bridge(), "address"), "")
	m.write(t, filepath.Join("sys/class/net", second.Bridge(), "address"), "")
	m.write(t, "sys/class/net/koordinator/address", "") // of somebody else
	must(t, m.makeMountPoints())
	must(t, m.removeMountPoints(first))
	if diff := cmp.Diff(privatePaths, m.left()); diff != "" {
		t.Errorf("what the second can go on with (-want +got):\n%s", diff)
	}
	must(t, os.RemoveAll(filepath.Join(m.Root, "sys/class/net", first.Bridge())))
	must(t, m.removeMountPoints(second))
	if left := m.left(); left != nil {
		t.Errorf("left in the end: %q; want nothing", left)
	}
}

func TestKernelSettingsAreCopied(t *testing.T) {
	m, n := usual(t), newNode(t)
	must(t, os.MkdirAll(n.path("kernel"), 0o700))
	m.write(t, "proc/sys/kernel/panic", "1\n")
	m.write(t, "proc/sys/vm/overcommit_memory", "0\n")
	must(t, m.copyKernelSettings(n))
	entries, err := os.ReadDir(n.path("kernel"))
	must(t, err)
	got := map[string]string{}
	for _, entry := range entries {
		data, err := os.ReadFile(n.path("kernel", entry.Name()))
		must(t, err)
		got[entry.Name()] = string(data)
	}
	if diff := cmp.Diff(map[string]string{"kernel.panic": "1\n", "vm.overcommit_memory": "0\n"}, got); diff != "" {
		t.Errorf("copies (-want +got):\n%s", diff)
	}
}
