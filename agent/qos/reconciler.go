package qos

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/process"
)

// Reconciler is a feature that sets what no cgroup has: shares of a cache, cookies of processes, queues of a network device. It keeps
// account itself of what was there before. One goroutine at a time may use it.
type Reconciler interface {
	// Name is that of the feature's gate.
	Name() string
	// Reconcile brings the machine to what the snapshot of the node asks for. It is called after every reading and decides itself how often it
	// looks. What the kernel refuses is an error, and tried again.
	Reconcile(ctx context.Context, in NodeSnapshot) error
	// Restore gives everything back, also what an agent that crashed has set.
	Restore(ctx context.Context) error
}

// maxDepth bounds how far below a container cgroups are looked for.
const maxDepth = 8

// Tasks lists what is in a cgroup and in those below it, in ascending order: processes by cgroup.Processes, and all their threads
// by cgroup.Threads. What goes meanwhile is left out.
func Tasks(tree files.FS, layout cgroup.Layout, statistic cgroup.Statistic, at string) []int {
	found := tasks(tree, layout, statistic, at, maxDepth)
	slices.Sort(found)
	return slices.Compact(found)
}

func tasks(tree files.FS, layout cgroup.Layout, statistic cgroup.Statistic, at string, depth int) []int {
	var found []int
	content, err := tree.Read(layout.Statistic(statistic, at), nil)
	if err == nil {
		found = Numbers(content)
	}
	names, err := tree.Directories(layout.Directory(statistic, at))
	if err != nil || depth == 0 {
		return found
	}
	for _, name := range names {
		found = append(found, tasks(tree, layout, statistic, at+"/"+name, depth-1)...)
	}
	return found
}

// Numbers reads the positive numbers of a list with one in each line, as the kernel lists processes. Zero stands for a process
// that this one's PID namespace does not show, and is left out; so is what the kernel has no numbers for.
func Numbers(content []byte) []int {
	var found []int
	for field := range bytes.FieldsSeq(content) {
		if id, err := strconv.ParseInt(string(field), 10, 32); err == nil && id > 0 {
			found = append(found, int(id))
		}
	}
	return found
}

// Within reports whether a thread is in one of the cgroups of containers, whose names have the containers' IDs, or below it. A thread
// that has ended is in none, and one that got its number since is in its own.
func Within(proc files.FS, thread int, cgroups ...string) bool {
	if len(cgroups) == 0 {
		return false
	}
	paths, err := process.Cgroups(proc, thread)
	if err != nil {
		return false
	}
	for _, within := range paths {
		for name := range strings.SplitSeq(within, "/") {
			if slices.ContainsFunc(cgroups, func(at string) bool { return path.Base(at) == name }) {
				return true
			}
		}
	}
	return false
}
