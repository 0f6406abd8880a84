package kernelfs

import (
	"syscall"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/decision/core/cpuset"
)

func (g *group) cpus() cpuset.CPUSet {
	set, err := cpuset.Parse(g.content["cpuset.cpus"])
	if err != nil {
		return cpuset.CPUSet{}
	}
	return set
}

// parseCPUs takes CPUs that the machine has; version 1 those that are online.
func (t *Tree) parseCPUs(g *group, value string) (cpuset.CPUSet, error) {
	set, err := cpuset.Parse(value)
	switch {
	case g.parent == nil:
		return set, syscall.EACCES
	case err != nil:
		return set, syscall.EINVAL
	case !t.possible.ContainsAll(set):
		return set, syscall.ERANGE
	case t.version == cgroup.V1 && !t.online.ContainsAll(set):
		return set, syscall.EINVAL
	}
	return set, nil
}

// setCPUsV1 keeps every cgroup within the one above it, and never without CPUs while tasks are in it.
func setCPUsV1(t *Tree, g *group, value string) (string, error) {
	set, err := t.parseCPUs(g, value)
	if err != nil {
		return "", err
	}
	for _, child := range g.children {
		if !set.ContainsAll(child.cpus()) {
			return "", syscall.EBUSY
		}
	}
	switch {
	case !g.parent.cpus().ContainsAll(set):
		return "", syscall.EACCES
	case set.IsEmpty() && g.tasks > 0:
		return "", syscall.ENOSPC
	}
	return set.String(), nil
}

// setCPUsV2 takes any CPUs: what a cgroup has in effect is another question. But those that it was given are not taken from it
// altogether while tasks are in it or below.
func setCPUsV2(t *Tree, g *group, value string) (string, error) {
	set, err := t.parseCPUs(g, value)
	if err == nil && set.IsEmpty() && !g.cpus().IsEmpty() && g.populated() {
		err = syscall.ENOSPC
	}
	return set.String(), err
}

// populated is true when there are tasks in a cgroup or below.
func (g *group) populated() bool {
	if g.tasks > 0 {
		return true
	}
	for _, child := range g.children {
		if child.populated() {
			return true
		}
	}
	return false
}

// effective returns the configured CPUs that the parent cgroup has too, and all CPUs of the parent when there are none.
func (t *Tree) effective(g *group) cpuset.CPUSet {
	if g.parent == nil {
		return t.online
	}
	above := t.effective(g.parent)
	if own := g.cpus().Intersection(above); !own.IsEmpty() {
		return own
	}
	return above
}
