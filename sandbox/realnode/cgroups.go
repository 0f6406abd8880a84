package realnode

import (
	"context"
	"path/filepath"

	"koordinator.sh/koord/sandbox/cgrouptree"
)

// cgroups are the hierarchies of a machine, mounted below one directory.
func (h Host) cgroups() (*cgrouptree.Tree, error) { return cgrouptree.Open(h.cgroupMount()) }

func (h Host) cgroupMount() string { return filepath.Join(h.Root, cgrouptree.Mount) }

// makeCgroup makes the cgroup that kubelet makes those of pods in, with all of the machine's CPUs and controllers.
func (h Host) makeCgroup(name string) error {
	tree, err := h.cgroups()
	if err != nil {
		return err
	}
	if err := tree.Make(name); err != nil {
		return err
	}
	return tree.Delegate(name)
}

// removeCgroup deletes the cgroup and those below it. It tries until ctx ends.
func (h Host) removeCgroup(ctx context.Context, name string) error {
	tree, err := h.cgroups()
	if err != nil {
		return err
	}
	return tree.Remove(ctx, name)
}
