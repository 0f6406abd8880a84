package livecgroup

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/cgroups/v3/cgroup1"
	v1stats "github.com/containerd/cgroups/v3/cgroup1/stats"
	"github.com/containerd/cgroups/v3/cgroup2"
	v2stats "github.com/containerd/cgroups/v3/cgroup2/stats"
	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/test/eventually"
	"koordinator.sh/koord/test/livecgroup/work"
)

// statistics are what containerd's library reads of a cgroup, for comparison.
type statistics struct {
	counter  host.GroupCounter
	oomKills uint64
}

func (r *rig) statistics(at string) statistics {
	r.t.Helper()
	if r.Version == cgroup.V1 {
		return r.statisticsV1(at)
	}
	manager, err := cgroup2.Load("/"+at, cgroup2.WithMountpoint(mount))
	if err != nil {
		r.t.Fatal(err)
	}
	read, err := manager.StatFiltered(cgroup2.StatCPU | cgroup2.StatMemory | cgroup2.StatMemoryEvents | cgroup2.StatIO)
	if err != nil {
		r.t.Fatal(err)
	}
	var out statistics
	out.counter.CPU = microseconds(read.CPU.UsageUsec)
	out.counter.Cache = int64(min(read.Memory.InactiveFile, read.Memory.Usage))
	out.counter.Memory = int64(read.Memory.Usage) - out.counter.Cache
	out.counter.Throttling = host.Throttling{
		Periods: int64(read.CPU.NrPeriods), Throttled: int64(read.CPU.NrThrottled), Time: microseconds(read.CPU.ThrottledUsec),
	}
	out.counter.Pressure = host.Pressure{CPU: stall(read.CPU.PSI), Memory: stall(read.Memory.PSI), IO: stall(read.Io.PSI)}
	for _, device := range read.Io.Usage {
		out.counter.BlockIO.ReadBytes += int64(device.Rbytes)
		out.counter.BlockIO.WrittenBytes += int64(device.Wbytes)
		out.counter.BlockIO.Reads += int64(device.Rios)
		out.counter.BlockIO.Writes += int64(device.Wios)
	}
	out.oomKills = read.MemoryEvents.OomKill
	return out
}

func (r *rig) statisticsV1(at string) statistics {
	r.t.Helper()
	hierarchy := func() ([]cgroup1.Subsystem, error) {
		return []cgroup1.Subsystem{
			cgroup1.NewCpuacct(mount), cgroup1.NewCpu(mount), cgroup1.NewMemory(mount, cgroup1.IgnoreModules("memsw", "kmem", "kmem.tcp")), cgroup1.NewBlkio(mount),
		}, nil
	}
	control, err := cgroup1.Load(cgroup1.StaticPath("/"+at), cgroup1.WithHierarchy(hierarchy))
	if err != nil {
		r.t.Fatal(err)
	}
	read, err := control.Stat()
	if err != nil {
		r.t.Fatal(err)
	}
	var out statistics
	out.counter.CPU = time.Duration(read.CPU.Usage.Total)
	out.counter.Cache = int64(min(read.Memory.TotalInactiveFile, read.Memory.Usage.Usage))
	out.counter.Memory = int64(read.Memory.Usage.Usage) - out.counter.Cache
	throttling := read.CPU.Throttling
	out.counter.Throttling = host.Throttling{
		Periods: int64(throttling.Periods), Throttled: int64(throttling.ThrottledPeriods), Time: time.Duration(throttling.ThrottledTime),
	}
	out.counter.BlockIO = host.BlockIO{
		ReadBytes: sumOf("Read", read.Blkio.IoServiceBytesRecursive), WrittenBytes: sumOf("Write", read.Blkio.IoServiceBytesRecursive),
		Reads: sumOf("Read", read.Blkio.IoServicedRecursive), Writes: sumOf("Write", read.Blkio.IoServicedRecursive),
	}
	out.oomKills = read.MemoryOomControl.OomKill
	return out
}

func microseconds(n uint64) time.Duration { return time.Duration(n) * time.Microsecond }

func stall(psi *v2stats.PSIStats) host.Stall {
	return host.Stall{Some: microseconds(psi.GetSome().GetTotal()), Full: microseconds(psi.GetFull().GetTotal())}
}

func sumOf(operation string, entries []*v1stats.BlkIOEntry) (sum int64) {
	for _, entry := range entries {
		if entry.Op == operation {
			sum += int64(entry.Value)
		}
	}
	return sum
}

// TestTheKernelsFilesAreReadAsContainerdReadsThem: of a pod and its container that used what they could, and are idle since, everything
// that the agent and containerd's library both read is the same.
func TestTheKernelsFilesAreReadAsContainerdReadsThem(t *testing.T) {
	r := newRig(t)
	r.Start(r.path("service/main"), work.Hold(32<<20)).AwaitDone()
	if disk := os.Getenv(DiskVariable); disk != "" {
		r.Start(r.path("service/main"), work.ReadFile(disk, 8<<20)).AwaitDone()
	}
	busy := r.Start(r.path("service/main"), work.Burn(2))
	busy.AwaitDone()
	r.write(cgroup.CPUQuota, r.path("service"), "5000")
	eventually.True(t, "the pod is throttled", func() bool { return r.statistics(r.path("service")).counter.Throttling.Throttled > 0 })
	if err := syscall.Kill(busy.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"service", "service/main"} {
		t.Run(at, func(t *testing.T) {
			var want, got host.GroupCounter
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("as containerd reads it and as the agent does (-want +got):\n%s", cmp.Diff(want, got))
				}
			})
			eventually.True(t, "both read the same", func() bool {
				want, got = r.statistics(r.path(at)).counter, r.measured(at)
				return cmp.Equal(want, got)
			})
			if want.CPU < 10*time.Millisecond || want.Memory < 32<<20 {
				t.Errorf("it used next to nothing: %+v", want)
			}
		})
	}
}

// measured is what the agent reads of a pod or its container, less what the library does not read.
func (r *rig) measured(at string) host.GroupCounter {
	r.t.Helper()
	pod, _, isContainer := strings.Cut(at, "/")
	snapshot, counter := r.read(pod)
	out := host.GroupCounter{Counter: counter.Counter, Details: counter.Details}
	for _, container := range snapshot.Containers {
		if isContainer && string(container.Pod) == pod {
			out = host.GroupCounter{Counter: container.Counter, Details: container.Details}
		}
	}
	out.Pressure.At, out.BlockIO.At = time.Time{}, time.Time{}
	if r.Version == cgroup.V1 {
		out.Pressure = host.Pressure{} // it is not in these hierarchies
		if !isContainer {
			out.BlockIO = host.BlockIO{} // that of the cgroups below is not counted
		}
	}
	return out
}
