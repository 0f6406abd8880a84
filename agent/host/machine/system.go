package machine

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"time"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/files"
)

// tick is the unit of /proc/stat: the kernel shows USER_HZ, which is 100 everywhere.
const tick = 10 * time.Millisecond

// system reads what the whole machine uses.
type system struct {
	*cgroups
	stat, meminfo files.File
	// cpu, memory and io are of /proc/pressure, nil where the kernel has none.
	cpu, memory, io files.File
	// idlePages of the root's cgroup, nil where the kernel keeps no record.
	idlePages files.File
	numa      numa
}

func openSystem(proc, sys files.FS, of *cgroups) (*system, error) {
	stat, err := proc.Open("stat")
	if err != nil {
		return nil, err
	}
	meminfo, err := proc.Open("meminfo")
	if err != nil {
		_ = stat.Close() // nothing was written
		return nil, err
	}
	s := &system{cgroups: of, stat: stat, meminfo: meminfo, numa: numa{sys: sys}}
	for _, pressure := range []struct {
		name string
		file *files.File
	}{{"cpu", &s.cpu}, {"memory", &s.memory}, {"io", &s.io}} {
		if file, err := proc.Open("pressure/" + pressure.name); err == nil {
			*pressure.file = file
		}
	}
	s.idlePages = of.try("memory/memory.idle_page_stats")
	return s, nil
}

// read takes the time that all CPUs were busy since the machine started, and memory in use: total less available. What is not
// free beyond that is page cache.
func (s *system) read(into *host.Snapshot) error {
	content, err := s.content(s.stat)
	if err != nil {
		return err
	}
	into.Node = host.Counter{}
	if into.Node.CPU, err = busy(content); err != nil {
		return fmt.Errorf("/proc/stat: %w", err)
	}
	s.numa.readCPU(content)
	if content, err = s.content(s.meminfo); err != nil {
		return err
	}
	into.Node.Memory, into.Node.Cache, err = inUse(content)
	if err != nil {
		return err
	}
	if s.idlePages != nil {
		if content, err := s.content(s.idlePages); err == nil {
			into.Node.Cold = min(coldFilePages(content), into.Node.Cache)
		}
	}
	return nil
}

// readPressure reads /proc/pressure, of which there may be none.
func (s *system) readPressure(into *host.Snapshot) {
	if s.cpu == nil {
		return
	}
	if read, err := s.pressure(s.cpu, s.memory, s.io, into.Time); err == nil {
		into.Pressure = read
	}
}

// busy sums up the first line of /proc/stat but for idle and waiting for I/O. Time given to guests is within user and nice.
func busy(stat []byte) (time.Duration, error) {
	rest, found := bytes.CutPrefix(stat, allCPUs)
	if !found {
		return 0, fmt.Errorf("no line of all CPUs: %w", errNoNumber)
	}
	return busyLine(rest)
}

var allCPUs = []byte("cpu ")

// busyLine sums up one line of /proc/stat after the name of the CPU.
func busyLine(rest []byte) (time.Duration, error) {
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	const idle, ioWait, steal = 3, 4, 7
	var ticks int64
	for i := 0; i <= steal; i++ {
		value, after, err := leadingNumber(rest)
		if err != nil {
			if i > idle {
				break // old kernels count fewer states
			}
			return 0, err
		}
		rest = after
		if i != idle && i != ioWait {
			ticks += min(value, math.MaxInt64/16-1)
		}
	}
	return time.Duration(min(ticks, math.MaxInt64/int64(tick))) * tick, nil
}

// inUse reads /proc/meminfo, which counts in KiB, into bytes: what is in use, and what is neither that nor free.
func inUse(meminfo []byte) (used, cache int64, err error) {
	total, err := field(meminfo, "MemTotal")
	if err != nil {
		return 0, 0, fmt.Errorf("/proc/meminfo, MemTotal: %w", err)
	}
	available, err := field(meminfo, "MemAvailable")
	if err != nil {
		return 0, 0, fmt.Errorf("/proc/meminfo, MemAvailable: %w", err)
	}
	free, err := field(meminfo, "MemFree")
	if err != nil && !errors.Is(err, errNoNumber) {
		return 0, 0, fmt.Errorf("/proc/meminfo, MemFree: %w", err)
	}
	total = min(total, math.MaxInt64>>10)
	used = max(total-available, 0)
	if err == nil {
		cache = max(total-free-used, 0)
	}
	return used << 10, cache << 10, nil
}

func (s *system) close() {
	for _, file := range []*files.File{&s.stat, &s.meminfo, &s.cpu, &s.memory, &s.io, &s.idlePages} {
		closeFile(file)
	}
	s.numa.close()
}
