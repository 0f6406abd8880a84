package perf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Real is the kernel that runs.
type Real struct {
	// Root is where the cgroups are that perf_event knows: /sys/fs/cgroup/perf_event in version 1, /sys/fs/cgroup in version 2.
	Root string
	// events to count; cycles and instructions when there are none.
	events []event
}

var _ Kernel = Real{}

// event is one that a kernel counts.
type event struct {
	kind   uint32
	config uint64
}

var hardware = []event{{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES}, {unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS}}

func (r Real) counted() []event {
	if r.events != nil {
		return r.events
	}
	return hardware
}

// open opens one counter of a group; leader is -1 for the first.
func open(e event, target, cpu, leader, flags int) (int, error) {
	attributes := unix.PerfEventAttr{
		Type: e.kind, Config: e.config, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Read_format: unix.PERF_FORMAT_GROUP | unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
	}
	return unix.PerfEventOpen(&attributes, target, cpu, leader, flags|unix.PERF_FLAG_FD_CLOEXEC)
}

// Supported implements Kernel by counting the agent itself.
func (r Real) Supported() error {
	fd, err := open(r.counted()[0], 0, -1, -1, 0)
	switch {
	case err == nil:
		return unix.Close(fd)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
		return errors.New("this machine has no performance counters of cycles, as most virtual ones")
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return errors.New("the kernel does not let the agent use performance counters")
	}
	return fmt.Errorf("open a performance counter: %w", err)
}

// Count implements Kernel.
func (r Real) Count(cgroup string, cpus []int) (Counter, error) {
	directory, err := os.Open(filepath.Join(r.Root, filepath.Clean("/"+cgroup)))
	if err != nil {
		return nil, fmt.Errorf("count a cgroup: %w", err)
	}
	defer func() { _ = directory.Close() }() // counters hold the cgroup themselves
	out := &counter{}
	for _, cpu := range cpus {
		leader := -1
		for _, event := range r.counted() {
			fd, err := open(event, int(directory.Fd()), cpu, leader, unix.PERF_FLAG_PID_CGROUP)
			if err != nil {
				out.Close()
				return nil, fmt.Errorf("count cgroup %q on CPU %d: %w", cgroup, cpu, err)
			}
			if leader < 0 {
				leader = fd
				out.leaders = append(out.leaders, fd)
			}
			out.all = append(out.all, fd)
		}
	}
	return out, nil
}

// counter has a group of counters for each CPU.
type counter struct {
	leaders, all []int
}

// Read implements Counter.
func (c *counter) Read() (Sample, error) {
	var out Sample
	for _, leader := range c.leaders {
		var content [5 * 8]byte // count of counters, time enabled, time running, and two values
		n, err := syscall.Read(leader, content[:])
		if err != nil || n < len(content) {
			return Sample{}, fmt.Errorf("read a performance counter: %d bytes: %w", n, errors.Join(err, unix.EIO))
		}
		value := func(i int) float64 { return float64(binary.NativeEndian.Uint64(content[i*8:])) }
		enabled, running := value(1), value(2)
		if running == 0 {
			continue // nothing of the cgroup ran there
		}
		out.Cycles += value(3) * enabled / running
		out.Instructions += value(4) * enabled / running
	}
	return out, nil
}

// Close implements Counter.
func (c *counter) Close() {
	for _, fd := range c.all {
		_ = unix.Close(fd) // nothing was written
	}
	c.leaders, c.all = nil, nil
}
