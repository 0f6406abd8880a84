package cgroup

import "path"

// Statistic is a file that the kernel writes.
type Statistic struct {
	// controller and v1 are the hierarchy and the file of version 1, v2 is the file of version 2.
	controller, v1, v2 string
}

// The statistics. What they contain differs by version as well.
var (
	CPUUsage    = Statistic{controller: "cpuacct", v1: "cpuacct.usage", v2: "cpu.stat"}
	CPUStat     = Statistic{controller: "cpu", v1: "cpu.stat", v2: "cpu.stat"}
	MemoryUsage = Statistic{controller: "memory", v1: "memory.usage_in_bytes", v2: "memory.current"}
	MemoryStat  = Statistic{controller: "memory", v1: "memory.stat", v2: "memory.stat"}
	// OOMKills has the processes that were killed for want of memory after a name: in version 2 those of the cgroups below it are
	// among them.
	OOMKills = Statistic{controller: "memory", v1: "memory.oom_control", v2: "memory.events"}
	// Processes and Threads are lists of those in the cgroup itself.
	Processes = Statistic{controller: "cpu", v1: "cgroup.procs", v2: "cgroup.procs"}
	Threads   = Statistic{controller: "cpu", v1: "tasks", v2: "cgroup.threads"}
)

// Statistic returns the file of a cgroup, relative to the root of all hierarchies.
func (l Layout) Statistic(s Statistic, cgroup string) string {
	if l.Version == V2 {
		return path.Join(cgroup, s.v2)
	}
	return path.Join(s.controller, cgroup, s.v1)
}

// Directory returns where a statistic of a cgroup is, and of those below it.
func (l Layout) Directory(s Statistic, cgroup string) string {
	return path.Dir(l.Statistic(s, cgroup))
}
