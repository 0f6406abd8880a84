package kernelfs

import (
	"strings"

	"koordinator.sh/koord/agent/host/cgroup"
)

// KillForMemory has the kernel kill processes of a cgroup because memory ran out. Version 2 counts them in the cgroups above it as well.
func (t *Tree) KillForMemory(at string, processes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for g := t.find(at); g != nil && g.parent != nil; g = g.parent {
		if t.version == cgroup.V1 {
			g.addTo("memory.oom_control", "oom_kill ", processes)
			return
		}
		g.addTo("memory.events", "oom_kill ", processes)
	}
}

// addTo adds to the number after a key at the beginning of a line.
func (g *group) addTo(file, key string, n int64) {
	lines := strings.Split(g.content[file], "\n")
	for i, line := range lines {
		if text, found := strings.CutPrefix(line, key); found {
			before, _ := number(text)
			lines[i] = key + format(before+n)
		}
	}
	g.content[file] = strings.Join(lines, "\n")
}
