package machine

import (
	"errors"
	"math"
	"path"
	"time"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

// cgroups is where cgroups are, and memory that readings share.
type cgroups struct {
	tree   files.FS
	layout cgroup.Layout
	buffer []byte
}

// group is what one cgroup counts. Files of what the kernel does not account for are nil.
type group struct {
	cpu, memory, stat files.File
	// throttled is nil where the CPU's file has that as well.
	throttled files.File
	idlePages files.File
	slow      slowFiles
}

// open opens the files of a cgroup. Those of usage must be there.
func (c *cgroups) open(at string) (*group, error) {
	g := &group{}
	var problems []error
	open := func(statistic cgroup.Statistic) files.File {
		file, err := c.tree.Open(c.layout.Statistic(statistic, at))
		problems = append(problems, err)
		return file
	}
	g.cpu, g.memory, g.stat = open(cgroup.CPUUsage), open(cgroup.MemoryUsage), open(cgroup.MemoryStat)
	if err := errors.Join(problems...); err != nil {
		g.close()
		return nil, err
	}
	if c.layout.Version == cgroup.V1 {
		g.throttled = c.try(c.layout.Statistic(cgroup.CPUStat, at))
	}
	g.idlePages = c.try(path.Join(c.layout.Directory(cgroup.MemoryStat, at), "memory.idle_page_stats"))
	g.slow = c.openSlow(at)
	return g, nil
}

// try opens a file that not every kernel has; nil where there is none.
func (c *cgroups) try(name string) files.File {
	if c.tree == nil {
		return nil
	}
	file, err := c.tree.Open(name)
	if err != nil {
		return nil
	}
	return file
}

// content reads a file into the shared memory.
func (c *cgroups) content(file files.File) ([]byte, error) {
	content, err := file.Read(c.buffer)
	if err == nil {
		c.buffer = content
	}
	return content, err
}

// counter reads CPU time and throttling, and memory with and without the file pages that nobody used lately.
func (c *cgroups) counter(g *group, counter *host.Counter, throttling *host.Throttling) error {
	content, err := c.content(g.cpu)
	if err != nil {
		return err
	}
	if counter.CPU, err = CPUTime(c.layout.Version, content); err != nil {
		return err
	}
	if g.throttled != nil {
		if content, err = c.content(g.throttled); err != nil {
			return err
		}
	}
	*throttling = throttlingIn(c.layout.Version, content)
	if content, err = c.content(g.memory); err != nil {
		return err
	}
	used, _, err := leadingNumber(content)
	if err != nil {
		return err
	}
	if content, err = c.content(g.stat); err != nil {
		return err
	}
	inactive, err := inactiveFile(c.layout.Version, content)
	if err != nil {
		return err
	}
	counter.Memory = max(used-inactive, 0)
	counter.Cache, counter.Cold = used-counter.Memory, 0
	if g.idlePages != nil {
		if content, err := c.content(g.idlePages); err == nil {
			counter.Cold = min(coldFilePages(content), counter.Cache)
		}
	}
	return nil
}

// CPUTime reads the CPU time of a cgroup.
func CPUTime(version cgroup.Version, content []byte) (time.Duration, error) {
	if version == cgroup.V2 {
		microseconds, err := field(content, "usage_usec")
		return time.Duration(min(microseconds, math.MaxInt64/1000)) * time.Microsecond, err
	}
	nanoseconds, _, err := leadingNumber(content)
	return time.Duration(nanoseconds), err
}

// throttlingIn reads cpu.stat. A cgroup whose kernel has no quotas was never throttled.
func throttlingIn(version cgroup.Version, content []byte) host.Throttling {
	var out host.Throttling
	name, unit := "throttled_time", time.Nanosecond
	if version == cgroup.V2 {
		name, unit = "throttled_usec", time.Microsecond
	}
	out.Periods, _ = field(content, "nr_periods")
	out.Throttled, _ = field(content, "nr_throttled")
	elapsed, _ := field(content, name)
	out.Time = time.Duration(min(elapsed, math.MaxInt64/int64(unit))) * unit
	return out
}

// inactiveFile reads the page cache of a cgroup and those below it that is reclaimed first, in bytes.
func inactiveFile(version cgroup.Version, content []byte) (int64, error) {
	if version == cgroup.V2 {
		return field(content, "inactive_file")
	}
	return field(content, "total_inactive_file")
}

// close releases all files; it may be called again.
func (g *group) close() {
	for _, file := range []*files.File{&g.cpu, &g.memory, &g.stat, &g.throttled, &g.idlePages} {
		closeFile(file)
	}
	g.slow.close()
}

func closeFile(file *files.File) {
	if *file != nil {
		_ = (*file).Close() // nothing was written
		*file = nil
	}
}
