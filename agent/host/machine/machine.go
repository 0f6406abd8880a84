package machine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Options are where the machine is found.
type Options struct {
	// Proc, Sys and Cgroup are the trees at /proc, /sys and /sys/fs/cgroup.
	Proc, Sys, Cgroup files.FS
	// Layout of the cgroups.
	Layout cgroup.Layout
	// Clock stamps readings.
	Clock clock.PassiveClock
}

// Machine implements host.Host. One goroutine at a time may read it; Capacity, Topology and Watch may be called meanwhile.
type Machine struct {
	options Options
	cgroups *cgroups
	system  *system
	pods    *pods

	mu sync.Mutex
	// watched are the applications to read.
	watched      []host.Application
	applications applications
	// slowly is when what is read slowly had its turn last, pressure what the node's was then, and described when the machine
	// was asked how it is built.
	slowly, described time.Time
	pressure          host.Pressure
}

var _ host.Host = (*Machine)(nil)

// New opens the files of the machine. It must be closed.
func New(options Options) (*Machine, error) {
	of := &cgroups{tree: options.Cgroup, layout: options.Layout}
	system, err := openSystem(options.Proc, options.Sys, of)
	if err != nil {
		return nil, fmt.Errorf("open the machine's statistics: %w", err)
	}
	return &Machine{options: options, cgroups: of, system: system, pods: newPods(of), applications: applications{cgroups: of}}, nil
}

// Close releases all files.
func (m *Machine) Close() {
	m.system.close()
	m.pods.close()
	m.applications.watch(nil)
}

// Watch has readings count applications outside of Kubernetes, those given and no others. It may be called at any time.
func (m *Machine) Watch(wanted []host.Application) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched = slices.Clone(wanted)
}

// Capacity implements host.Host: the CPUs that are online, and all memory that the kernel has.
func (m *Machine) Capacity(context.Context) (podrequest.Amount, error) {
	online, err := m.online()
	if err != nil {
		return podrequest.Amount{}, err
	}
	content, err := m.options.Proc.Read("meminfo", nil)
	if err != nil {
		return podrequest.Amount{}, err
	}
	total, err := field(content, "MemTotal")
	if err != nil {
		return podrequest.Amount{}, fmt.Errorf("/proc/meminfo, MemTotal: %w", err)
	}
	return podrequest.Amount{MilliCPU: int64(online.Len()) * 1000, Memory: min(total, math.MaxInt64>>10) << 10}, nil
}

// Read implements host.Host. A pod whose files cannot be read is left out. Each cgroup has its turn once in ten readings, in which all
// of it is read. In between a snapshot has the pressure and block I/O that were read last, of cgroups in which nothing ran the memory
// as well, and of others the page cache unless the memory in use moved by a MiB.
func (m *Machine) Read(ctx context.Context, into *host.Snapshot) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	into.Time = m.options.Clock.Now()
	m.describe(into.Time)
	if err := m.system.read(into); err != nil {
		return fmt.Errorf("read the machine: %w", err)
	}
	slowly := m.slow(into.Time)
	if err := m.pods.read(into, slowly); err != nil && !errors.Is(err, errNoPods) {
		return fmt.Errorf("read the cgroups of pods: %w", err)
	}
	m.pods.readBestEffort(&into.BestEffort, into.Time, slowly)
	m.readApplications(into, slowly && m.pods.round%Turns == 3)
	m.system.numa.read(m.cgroups, into, slowly && m.pods.round%Turns == 2)
	if slowly && m.pods.round%Turns == 1 {
		m.system.readPressure(into)
		m.pressure = into.Pressure
	}
	into.Pressure = m.pressure
	return nil
}

// slow reports whether what is read slowly has its turn: not in readings that follow another at once.
func (m *Machine) slow(now time.Time) bool {
	const least = 90 * time.Millisecond // the shortest sample period, give or take
	if age := now.Sub(m.slowly); age >= 0 && age < least {
		return false
	}
	m.slowly = now
	return true
}

// describeInterval is how often the machine is asked which CPUs are on which NUMA node.
const describeInterval = time.Minute

// describe keeps what NUMA nodes there are. A machine that cannot tell has none to be measured.
func (m *Machine) describe(now time.Time) {
	if age := now.Sub(m.described); m.options.Sys == nil || !m.described.IsZero() && age >= 0 && age < describeInterval {
		return
	}
	m.described = now
	if nodes, byCPU, err := m.numaNodes(); err == nil {
		m.system.numa.describe(nodes, byCPU)
	}
}

func (m *Machine) readApplications(into *host.Snapshot, all bool) {
	m.mu.Lock()
	if !m.applications.same(m.watched) {
		m.applications.watch(m.watched)
	}
	m.mu.Unlock()
	m.applications.read(into, all)
}
