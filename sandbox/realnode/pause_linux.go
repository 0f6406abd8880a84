package realnode

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// stopAttempts bound how often processes are listed that have been started by some that were not yet stopped.
const stopAttempts = 10

// PauseBestEffort stops the processes of the node's best-effort pods, and of what else lies below their cgroup, such as containers of YARN, until
// ResumeBestEffort. Those that the node starts meanwhile are not stopped. A stopped process ends like any other when it is killed.
func (h Host) PauseBestEffort(n Node) error {
	tree, err := h.cgroups()
	if err != nil {
		return err
	}
	var stopped []int
	for range stopAttempts {
		pids, err := tree.Processes(n.bestEffort())
		if err != nil {
			return err
		}
		fresh := slices.DeleteFunc(pids, func(pid int) bool { return slices.Contains(stopped, pid) })
		if len(fresh) == 0 {
			return nil
		}
		signal(fresh, unix.SIGSTOP)
		stopped = append(stopped, fresh...)
	}
	return fmt.Errorf("pause the best-effort pods of node %q: they start processes faster than those are stopped", n.Name)
}

// ResumeBestEffort has everything go on that PauseBestEffort stopped.
func (h Host) ResumeBestEffort(n Node) error {
	tree, err := h.cgroups()
	if err != nil {
		return err
	}
	pids, err := tree.Processes(n.bestEffort())
	signal(pids, unix.SIGCONT)
	return err
}
