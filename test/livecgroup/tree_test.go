package livecgroup

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/test/eventually"
	"koordinator.sh/koord/test/livecgroup/work"
)

// TestCgroupsAreFilledEndedAndRemoved with all below them, on the kernel that runs.
func TestCgroupsAreFilledEndedAndRemoved(t *testing.T) {
	tree := Open(t)
	top := tree.Root + "/node"
	tree.Make(top + "/pod/container")
	if err := tree.cgroups.Delegate(top); err != nil {
		t.Fatal(err)
	}
	var want []int
	for _, at := range []string{top + "/pod/container", top + "/other"} {
		tree.Make(at)
		want = append(want, tree.Start(at, work.Wait).PID)
	}
	slices.Sort(want)
	if got, err := tree.cgroups.Processes(top); err != nil || !cmp.Equal(want, got) {
		t.Errorf("processes %v, %v; want %v", got, err, want)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tree.cgroups.Remove(ended, top); err == nil {
		t.Error("cgroups with processes were removed")
	}
	if err := tree.cgroups.Kill(top); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the processes have ended", func() bool {
		got, err := tree.cgroups.Processes(top)
		return err == nil && len(got) == 0
	})
	if err := tree.cgroups.Remove(t.Context(), top); err != nil {
		t.Error(err)
	}
	for _, hierarchy := range tree.cgroups.Hierarchies() {
		if tree.Exists(hierarchy + "/" + top) {
			t.Errorf("the cgroup is left in hierarchy %q", hierarchy)
		}
	}
}
