package copilot

import (
	"time"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/machine"
	"koordinator.sh/koord/decision/core/podrequest"
)

// reading is what was read of a cgroup at a time.
type reading struct {
	at     time.Time
	cpu    time.Duration
	memory int64
}

// meter measures cgroups of containers. One goroutine at a time may use it.
type meter struct {
	tree   files.FS
	layout cgroup.Layout
	buffer []byte
}

// read reads a cgroup; false for one that does not exist.
func (m *meter) read(at string, now time.Time) (reading, bool) {
	out := reading{at: now}
	content, err := m.content(cgroup.CPUUsage, at)
	if err != nil {
		return out, false
	}
	if out.cpu, err = machine.CPUTime(m.layout.Version, content); err != nil {
		return out, false
	}
	usage, err := m.tree.Read(m.layout.Statistic(cgroup.MemoryUsage, at), nil)
	if err != nil {
		return out, false
	}
	stat, err := m.content(cgroup.MemoryStat, at)
	if err != nil {
		return out, false
	}
	out.memory, err = machine.WorkingSet(m.layout.Version, usage, stat)
	return out, err == nil
}

func (m *meter) content(statistic cgroup.Statistic, at string) ([]byte, error) {
	content, err := m.tree.Read(m.layout.Statistic(statistic, at), m.buffer)
	if err == nil {
		m.buffer = content
	}
	return content, err
}

// used is the memory of a reading, and the CPU used on average since an earlier one: nothing where there was none, and where time did not
// pass or the counter went back. Memory counts at once, for evictions must not take pods instead.
func (r reading) used(since reading) podrequest.Amount {
	out := podrequest.Amount{Memory: r.memory}
	if elapsed, cpu := r.at.Sub(since.at), r.cpu-since.cpu; !since.at.IsZero() && elapsed > 0 && cpu > 0 {
		out.MilliCPU = int64(cpu.Seconds() / elapsed.Seconds() * 1000)
	}
	return out
}
