package kernelfs

import (
	"syscall"
	"testing"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/decision/core/cpuset"
)

// TestACPUThatGoesOffline and comes back. Both versions differ in what a cgroup that had it is left with, and in what they take.
func TestACPUThatGoesOffline(t *testing.T) {
	tests := map[cgroup.Version]struct{ before, gone, back []step }{
		cgroup.V1: {
			before: []step{{"a/b", "cpuset/cpuset.cpus", "1", 0, "1"}},
			gone: []step{
				{"a", "cpuset/cpuset.cpus", "", 0, "0"},
				{"a/b", "cpuset/cpuset.cpus", "1", syscall.EINVAL, nothing},
				{"a/b", "cpuset/cpuset.cpus", "0-1", syscall.EINVAL, nothing},
				{"a/b", "cpuset/cpuset.cpus", "0", 0, "0"},
			},
			back: []step{
				{"a", "cpuset/cpuset.cpus", "", 0, "0"},
				{"a/b", "cpuset/cpuset.cpus", "0-1", syscall.EACCES, "0"},
			},
		},
		cgroup.V2: {
			before: []step{{"a/b", "cpuset.cpus", "1", 0, "1"}},
			gone: []step{
				{"a/b", "cpuset.cpus", "", 0, "1"},
				{"a/b", "cpuset.cpus.effective", "", 0, "0"},
				{"a/b", "cpuset.cpus", "0-1", 0, "0-1"},
				{"a/b", "cpuset.cpus.effective", "", 0, "0"},
				{"a/b", "cpuset.cpus", "900", syscall.ERANGE, "0-1"},
			},
			back: []step{{"a/b", "cpuset.cpus.effective", "", 0, "0-1"}},
		},
	}
	for version, tc := range tests {
		tree := New(version, cpuset.Of(0, 1))
		const root = "koord-test"
		play(t, imitation{tree}, version, root, tc.before)
		tree.Enter(root+"/a/b", 1)
		tree.Offline(1)
		play(t, imitation{tree}, version, root, tc.gone)
		if b, a := tree.find(root+"/a/b").tasks, tree.find(root+"/a").tasks; (version == cgroup.V1) != (a == 1 && b == 0) {
			t.Errorf("version %d: %d tasks in the cgroup and %d in the one above", version, b, a)
		}
		tree.Online(1)
		play(t, imitation{tree}, version, root, tc.back)
	}
}
