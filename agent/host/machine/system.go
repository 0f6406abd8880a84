package machine

import (
	"bytes"
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
	stat, meminfo files.File
	buffer        []byte
}

func openSystem(proc files.FS) (*system, error) {
	stat, err := proc.Open("stat")
	if err != nil {
		return nil, err
	}
	meminfo, err := proc.Open("meminfo")
	if err != nil {
		_ = stat.Close() // nothing was written
		return nil, err
	}
	return &system{stat: stat, meminfo: meminfo}, nil
}

// read returns the time that all CPUs were busy since the machine started, and memory in use: total less available.
func (s *system) read() (host.Counter, error) {
	var counter host.Counter
	content, err := s.stat.Read(s.buffer)
	if err != nil {
		return counter, err
	}
	s.buffer = content
	if counter.CPU, err = busy(content); err != nil {
		return counter, fmt.Errorf("/proc/stat: %w", err)
	}
	if content, err = s.meminfo.Read(s.buffer); err != nil {
		return counter, err
	}
	s.buffer = content
	counter.Memory, err = inUse(content)
	return counter, err
}

// busy sums up the first line of /proc/stat but for idle and waiting for I/O. Time given to guests is within user and nice.
func busy(stat []byte) (time.Duration, error) {
	rest, found := bytes.CutPrefix(stat, []byte("cpu "))
	if !found {
		return 0, fmt.Errorf("no line of all CPUs: %w", errNoNumber)
	}
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

// inUse reads /proc/meminfo, which counts in KiB, into bytes.
func inUse(meminfo []byte) (int64, error) {
	total, err := field(meminfo, "MemTotal")
	if err != nil {
		return 0, fmt.Errorf("/proc/meminfo, MemTotal: %w", err)
	}
	available, err := field(meminfo, "MemAvailable")
	if err != nil {
		return 0, fmt.Errorf("/proc/meminfo, MemAvailable: %w", err)
	}
	return max(min(total, math.MaxInt64>>10)-available, 0) << 10, nil
}

func (s *system) close() {
	_ = s.stat.Close()    // nothing was written
	_ = s.meminfo.Close() // nothing was written
}
