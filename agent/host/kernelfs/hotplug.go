package kernelfs

import (
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/decision/core/cpuset"
)

// Offline takes CPUs from the machine. Version 1 takes them out of every cgroup, and moves the tasks of one that is left without any to
// the nearest above it that has some; version 2 remembers what a cgroup was given.
func (t *Tree) Offline(cpus ...int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.plug(t.online.Difference(cpuset.Of(cpus...)))
	if t.version == cgroup.V1 {
		t.root.unplug(t.online)
	}
}

// Online gives the machine CPUs back. Version 1 gives them to no cgroup but the root.
func (t *Tree) Online(cpus ...int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.plug(t.online.Union(cpuset.Of(cpus...)).Intersection(t.possible))
}

func (t *Tree) plug(online cpuset.CPUSet) {
	t.online = online
	t.root.content["cpuset.cpus"] = online.String()
}

func (g *group) unplug(online cpuset.CPUSet) {
	for _, child := range g.children {
		left := child.cpus().Intersection(online)
		child.content["cpuset.cpus"] = left.String()
		for above := g; left.IsEmpty() && child.tasks > 0; above = above.parent {
			if above.parent == nil || !above.cpus().IsEmpty() {
				above.tasks, child.tasks = above.tasks+child.tasks, 0
			}
		}
		child.unplug(online)
	}
}
