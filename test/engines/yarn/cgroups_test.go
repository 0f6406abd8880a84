package yarn_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const cgroupRoot = "/sys/fs/cgroup"

// makeKubelet makes cgroups as kubelet does, below one of the test's own in the kernel's tree, and returns that one. It skips the test
// where none can be made.
func makeKubelet(t *testing.T) string {
	t.Helper()
	parent := fmt.Sprintf("koord-engines-%d", os.Getpid())
	hierarchies := []string{cgroupRoot}
	if _, err := os.Stat(filepath.Join(cgroupRoot, "cgroup.controllers")); err != nil {
		hierarchies = nil
		for _, controller := range []string{"blkio", "cpu", "cpuacct", "cpuset", "memory"} {
			hierarchies = append(hierarchies, filepath.Join(cgroupRoot, controller))
		}
	}
	for _, hierarchy := range hierarchies {
		t.Cleanup(func() { removeCgroups(t, filepath.Join(hierarchy, parent)) })
		at := hierarchy
		for _, name := range []string{parent, "kubepods", "besteffort"} {
			below := filepath.Join(at, name)
			if err := os.Mkdir(below, 0o755); err != nil {
				t.Skipf("no cgroup can be made: %v", err)
			}
			for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
				if given, err := os.ReadFile(filepath.Join(at, file)); err == nil {
					_ = os.WriteFile(filepath.Join(below, file), given, 0o600) // version 2 does without
				}
			}
			for _, controller := range []string{"+cpu", "+memory", "+cpuset", "+io"} {
				_ = os.WriteFile(filepath.Join(below, "cgroup.subtree_control"), []byte(controller), 0o600) // only version 2 has it
			}
			at = below
		}
	}
	return parent
}

// removeCgroups removes cgroups that nothing runs in any more, from the innermost.
func removeCgroups(t *testing.T, root string) {
	var directories []string
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			directories = append(directories, path)
		}
		return nil
	})
	for _, directory := range slices.Backward(directories) {
		if err := os.Remove(directory); err != nil {
			t.Logf("remove what the test made: %v", err)
		}
	}
}
