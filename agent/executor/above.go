package executor

import (
	"path"
	"strings"

	"koordinator.sh/koord/agent/host/cgroup"
)

// above returns the file with what a cgroup of version 2 has while nothing is set for it: what the one above it has in effect. It
// is empty for settings of which a cgroup then has nothing.
func above(layout cgroup.Layout, t target) string {
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

// unsets is true for a change that gives back that nothing was set. Those above go first then, as for what grows.
func (p *pass) unsets(c *change) bool {
	return c.restores && c.value == "" && above(p.executor.options.Layout, c.target) != ""
}

// giveAll gives a cgroup that takes nothing from what it has already, because tasks are in it, all that the one above it has. It
// returns that, which is what the change comes to.
func (p *pass) giveAll(c *change, at place) (string, error) {
	content, err := at.tree.Read(above(p.executor.options.Layout, c.target), nil)
	if err != nil {
		return "", err
	}
	all, err := c.setting.Decode(cgroup.V2, strings.TrimSpace(string(content)))
	if err == nil {
		err = at.tree.Write(at.path, all)
	}
	return all, err
}
