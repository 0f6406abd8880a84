package machine

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/decision/podrequest"
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

// Machine implements host.Host. One goroutine at a time may read it; Capacity and Topology may be called meanwhile.
type Machine struct {
	options Options
	system  *system
	pods    *pods
}

var _ host.Host = (*Machine)(nil)

// New opens the files of the machine. It must be closed.
func New(options Options) (*Machine, error) {
	system, err := openSystem(options.Proc)
	if err != nil {
		return nil, fmt.Errorf("open the machine's statistics: %w", err)
	}
	return &Machine{options: options, system: system, pods: newPods(options.Cgroup, options.Layout)}, nil
}

// Close releases all files.
func (m *Machine) Close() {
	m.system.close()
	m.pods.close()
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
	return podrequest.Amount{MilliCPU: int64(online.Len()) * 1000, Memory: total << 10}, nil
}

// Read implements host.Host. A pod whose files cannot be read is left out.
func (m *Machine) Read(ctx context.Context, into *host.Snapshot) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	into.Time = m.options.Clock.Now()
	counter, err := m.system.read()
	if err != nil {
		return fmt.Errorf("read the machine: %w", err)
	}
	into.Node = counter
	into.Pods, err = m.pods.read(into.Pods[:0])
	if err != nil && !errors.Is(err, errNoPods) {
		return fmt.Errorf("read the cgroups of pods: %w", err)
	}
	return nil
}
