package executor

import (
	"errors"
	"path"
	"strings"
	"syscall"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/decision/core/cpuset"
)

// parentEffectiveFile returns the file with what a cgroup of version 2 has while nothing is set for it: what the one above it has in effect. It
// is empty for settings of which a cgroup then has nothing.
func parentEffectiveFile(layout cgroup.Layout, t target) string {
	if layout.Version != cgroup.V2 {
		return ""
	}
	switch t.setting {
	case cgroup.CPUSet:
		return path.Join(path.Dir(t.of), "cpuset.cpus.effective")
	case cgroup.MemoryNodes:
		return path.Join(path.Dir(t.of), "cpuset.mems.effective")
	}
	return ""
}

// clearsValue is true for a change that gives back that nothing was set. Those above go first then, as for what grows.
func (p *pass) clearsValue(c *change) bool {
	return c.restores && c.value == "" && parentEffectiveFile(p.executor.options.Layout, c.target) != ""
}

// restoreNearest writes what comes nearest to CPUs or memory nodes that the kernel refuses to have given back. It returns what that is and
// the kernel's answer, or false where it did not try.
func (p *pass) restoreNearest(c *change, at openedFile, refused error) (string, error, bool) {
	switch {
	case errors.Is(refused, syscall.ENOSPC) && p.clearsValue(c):
		all, err := p.restoreParentValue(c, at)
		return all, err, true
	case p.cpusTakenAway(c, refused):
		if left, err := p.restoreRemainingCPUs(c, at); err == nil {
			return left, nil, true
		}
	}
	return "", nil, false
}

// restoreParentValue gives a cgroup that takes nothing from what it has already, because tasks are in it, all that the one above it has. It
// returns that, which is what the change comes to.
func (p *pass) restoreParentValue(c *change, at openedFile) (string, error) {
	content, err := at.tree.Read(parentEffectiveFile(p.executor.options.Layout, c.target), nil)
	if err != nil {
		return "", err
	}
	all, err := c.setting.Decode(cgroup.V2, strings.TrimSpace(string(content)))
	if err == nil {
		err = at.tree.Write(at.path, all)
	}
	return all, err
}

// cpusTakenAway is true where version 1 refuses to give back CPUs: since they were read one of them went offline, and the kernel takes no list
// with it, nor one with CPUs that it took from the cgroup above.
func (p *pass) cpusTakenAway(c *change, err error) bool {
	return c.restores && p.executor.options.Layout.Version == cgroup.V1 && c.setting == cgroup.CPUSet &&
		(errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EACCES))
}

// restoreRemainingCPUs gives a cgroup those of its CPUs back that the one above it has, and all of that one's where it has none of them. It returns
// what the change comes to.
func (p *pass) restoreRemainingCPUs(c *change, at openedFile) (string, error) {
	file, _ := p.executor.options.Layout.Path(cgroup.CPUSet, path.Dir(c.of))
	content, err := at.tree.Read(file, nil)
	if err != nil {
		return "", err
	}
	above, err := cpuset.Parse(strings.TrimSpace(string(content)))
	if err != nil {
		return "", err
	}
	left := above
	if original, err := cpuset.Parse(c.value); err == nil && original.Meets(above) {
		left = original.Intersection(above)
	}
	return left.String(), at.tree.Write(at.path, left.String())
}
