package realnode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"koordinator.sh/koord/sandbox/cgrouptree"
)

// podGrace is how long the processes of pods may take to end when the node does.
const podGrace = 3 * time.Second

// endInterval is how often it is looked at what has ended.
const endInterval = 20 * time.Millisecond

// shims are the processes that containerd starts one of for each pod, and that outlive it. They are identified by the socket of the
// containerd they belong to.
func (h Host) shims(socket string) ([]int, error) {
	entries, err := os.ReadDir(filepath.Join(h.Root, "proc"))
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		args := strings.Split(h.read(filepath.Join("proc", entry.Name(), "cmdline")), "\x00")
		if strings.HasPrefix(filepath.Base(args[0]), "containerd-shim") && slices.Contains(args, socket) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// remaining are the processes of the node's pods, and their shims.
func (h Host) remaining(n Node, tree *cgrouptree.Tree) (pods, shims []int, err error) {
	if pods, err = tree.Processes(n.CgroupParent()); err != nil {
		return nil, nil, err
	}
	shims, err = h.shims(n.ContainerdSocket())
	return pods, shims, err
}

// endPods ends everything that runs in the node's pods, and their shims: the pods are asked, and killed after the grace. It
// returns when all are gone.
func (h Host) endPods(ctx context.Context, n Node, grace time.Duration) error {
	tree, err := h.cgroups()
	if err != nil {
		return err
	}
	deadline := time.Now().Add(grace)
	tick := time.NewTicker(endInterval)
	defer tick.Stop()
	asked := map[int]bool{}
	for {
		pods, shims, err := h.remaining(n, tree)
		if err != nil {
			return err
		}
		switch {
		case len(pods) == 0 && len(shims) == 0:
			return nil
		case len(pods) == 0:
			signal(shims, syscall.SIGKILL)
		case time.Now().After(deadline):
			signal(shims, syscall.SIGKILL)
			err = tree.Kill(n.CgroupParent())
		default:
			fresh := slices.DeleteFunc(pods, func(pid int) bool { return asked[pid] })
			signal(fresh, syscall.SIGTERM)
			for _, pid := range fresh {
				asked[pid] = true
			}
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("kill %d processes of pods and %d shims: %w", len(pods), len(shims), ctx.Err())
		case <-tick.C:
		}
	}
}
