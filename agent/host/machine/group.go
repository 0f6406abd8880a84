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
	// last is what was read last, and throttling with it; known says that there is any.
	last       host.Counter
	throttling host.Throttling
	known      bool
	// inactive are the file pages of the latest look at memory.stat, and within what was in use then, in bytes.
	inactive, within int64
}

// leastMoved is by how many bytes the memory in use has to move for the page cache within it to be looked at before its turn. The
// kernel sums memory.stat up over all CPUs and all cgroups below, which costs more than all else that is read of a cgroup.
const leastMoved = 1 << 20

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

// read brings what is known of a cgroup up to date, and reports whether anything ran in it since it was read last. Where nothing did it
// was not throttled either, and took no memory, so that the rest is read only when all is asked for.
func (c *cgroups) read(g *group, all bool) (ran bool, err error) {
	content, err := c.content(g.cpu)
	if err != nil {
		return false, err
	}
	used, err := CPUTime(c.layout.Version, content)
	if err != nil {
		return false, err
	}
	ran = !g.known || used != g.last.CPU
	if g.last.CPU = used; !ran && !all {
		return false, nil
	}
	if g.throttled != nil {
		if content, err = c.content(g.throttled); err != nil {
			return false, err
		}
	}
	g.throttling = throttlingIn(c.layout.Version, content)
	if err := c.readMemory(g, all || !g.known); err != nil {
		return false, err
	}
	g.known = true
	return ran, nil
}

// readMemory reads memory with and without the file pages that were not used lately. Those are as they were unless all is asked for, or
// the memory in use moved by much.
func (c *cgroups) readMemory(g *group, all bool) error {
	content, err := c.content(g.memory)
	if err != nil {
		return err
	}
	used, _, err := leadingNumber(content)
	if err != nil {
		return err
	}
	if moved := used - g.within; all || moved >= leastMoved || moved <= -leastMoved {
		if content, err = c.content(g.stat); err != nil {
			return err
		}
		if g.inactive, err = inactiveFile(c.layout.Version, content); err != nil {
			return err
		}
		g.within = used
		if g.idlePages != nil {
			if content, err := c.content(g.idlePages); err == nil {
				g.last.Cold = coldFilePages(content)
			}
		}
	}
	g.last.Memory = max(used-g.inactive, 0)
	g.last.Cache = used - g.last.Memory
	g.last.Cold = min(g.last.Cold, g.last.Cache)
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

// WorkingSet reads the memory of a cgroup, in bytes, from what is in use and from its memory.stat: without the file pages that were not
// used lately.
func WorkingSet(version cgroup.Version, usage, stat []byte) (int64, error) {
	used, _, err := leadingNumber(usage)
	if err != nil {
		return 0, err
	}
	inactive, err := inactiveFile(version, stat)
	return max(used-inactive, 0), err
}

// inactiveFile reads the page cache of a cgroup and those below it that is reclaimed first, in bytes.
func inactiveFile(version cgroup.Version, content []byte) (int64, error) {
	if version == cgroup.V2 {
		return field(content, "inactive_file")
	}
	return field(content, "total_inactive_file")
}

// PageCache reads what the kernel can take from a cgroup without swapping from its memory.stat, in bytes: file pages, used lately or
// not. Of version 1 those of the cgroups below it are not among them.
func PageCache(content []byte) int64 {
	inactive, _ := field(content, "inactive_file") // zero beside the error
	active, _ := field(content, "active_file")
	return min(inactive, 1<<60) + min(active, 1<<60)
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
