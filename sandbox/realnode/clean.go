package realnode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"koordinator.sh/koord/sandbox/state"
)

// CleanTimeout is how long Clean may take: the pods' grace, and until the kernel lets go of what the node was made of.
const CleanTimeout = podGrace + 10*time.Second

// Clean removes what a real node has left on the machine: the processes of its pods, its cgroups, its bridge, and its directory.
// containerd and kubelet must have ended. Nothing happens where there was no real node. It can be done again after it failed.
func (h Host) Clean(ctx context.Context, dir state.Dir) error {
	n := Node{Sandbox: filepath.Base(dir.Path()), Dir: directory(dir)}
	if _, err := os.Stat(n.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, CleanTimeout)
	defer cancel()
	for _, step := range []func(context.Context, Node) error{
		func(ctx context.Context, n Node) error { return h.endPods(ctx, n, podGrace) },
		func(ctx context.Context, n Node) error { return h.removeCgroup(ctx, n.CgroupParent()) },
		func(ctx context.Context, n Node) error { return removeBridge(ctx, n.Bridge()) },
		func(_ context.Context, n Node) error { return h.removeMountPoints(n) },
		// Last, because the directory says that something may be left. No mount of the node lies in it: they were seen in its
		// namespace alone.
		func(_ context.Context, n Node) error { return os.RemoveAll(n.Dir) },
	} {
		if err := step(ctx, n); err != nil {
			return fmt.Errorf("clean up after the real node: %w", err)
		}
	}
	return nil
}
