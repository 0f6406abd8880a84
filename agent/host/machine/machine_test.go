package machine

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
)

const (
	stat = `cpu  100 50 200 9000 30 5 15 7 3 2
cpu0 50 25 100 4500 15 2 7 3 1 1
intr 1 2 3
`
	meminfo = `MemTotal:       16000000 kB
MemFree:         1000000 kB
MemAvailable:   10000000 kB
Buffers:               0 kB
`
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// tree makes a directory of files.
func tree(t *testing.T, content map[string]string) *files.Real {
	t.Helper()
	root := t.TempDir()
	for name, text := range content {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := files.NewReal(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}

// show has a pod use some CPU time, in milliseconds, and memory, of which some is cache that can go.
func show(kernel *kernelfs.Tree, version cgroup.Version, at string, milliseconds, memory, cache string) {
	kernel.Make(at)
	if version == cgroup.V2 {
		kernel.Show(at, "cpu.stat", "usage_usec "+milliseconds+"000\nuser_usec 0\n")
		kernel.Show(at, "memory.current", memory)
		kernel.Show(at, "memory.stat", "anon 7\ninactive_file "+cache+"\n")
		return
	}
	kernel.Show(at, "cpuacct.usage", milliseconds+"000000")
	kernel.Show(at, "memory.usage_in_bytes", memory)
	kernel.Show(at, "memory.stat", "inactive_file 1\ntotal_inactive_file "+cache+"\n")
}

func TestPodsAreMeasuredByTheirCgroups(t *testing.T) {
	for _, layout := range []cgroup.Layout{{Version: cgroup.V1, Driver: cgroup.Cgroupfs}, {Version: cgroup.V2, Driver: cgroup.Systemd}} {
		kernel := kernelfs.New(layout.Version, cpuset.Of(0, 1))
		proc := tree(t, map[string]string{"stat": stat, "meminfo": meminfo})
		m, err := New(Options{Proc: proc, Cgroup: kernel, Layout: layout, Clock: clocktesting.NewFakePassiveClock(now)})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		read := func(want ...host.PodCounter) {
			t.Helper()
			var got host.Snapshot
			if err := m.Read(t.Context(), &got); err != nil {
				t.Fatal(err)
			}
			node := host.Counter{CPU: 377 * 10 * time.Millisecond, Memory: 6000000 << 10, Cache: 9000000 << 10}
			if diff := cmp.Diff(host.Snapshot{Time: now, Node: node, Pods: want}, got, cmpopts.EquateEmpty(), cmpopts.IgnoreTypes(host.Pressure{})); diff != "" {
				t.Errorf("version %d (-want +got):\n%s", layout.Version, diff)
			}
		}
		read() // before kubelet has made anything
		show(kernel, layout.Version, layout.Pod("Guaranteed", "b"), "20", "5000", "1000")
		show(kernel, layout.Version, layout.Pod("BestEffort", "a"), "30", "900", "1000")
		kernel.Make(layout.QoS("Burstable") + "/other")
		read(host.PodCounter{UID: "a", Counter: host.Counter{CPU: 30 * time.Millisecond, Cache: 900}},
			host.PodCounter{UID: "b", Counter: host.Counter{CPU: 20 * time.Millisecond, Memory: 4000, Cache: 1000}})
		kernel.Fail(func(operation, path string) error {
			if operation == "read" && path == layout.Statistic(cgroup.CPUUsage, layout.Pod("BestEffort", "a")) {
				return syscall.EIO
			}
			return nil
		})
		read(host.PodCounter{UID: "b", Counter: host.Counter{CPU: 20 * time.Millisecond, Memory: 4000, Cache: 1000}})
		kernel.Fail(nil)
		kernel.Remove(layout.Pod("Guaranteed", "b"))
		show(kernel, layout.Version, layout.Pod("BestEffort", "a"), "40", "9000", "0")
		read(host.PodCounter{UID: "a", Counter: host.Counter{CPU: 40 * time.Millisecond, Memory: 9000}})
	}
}

func TestTopologyOfTwoSockets(t *testing.T) {
	sys := map[string]string{
		"devices/system/cpu/online": "0-6\n", "devices/system/cpu/intel_pstate/no_turbo": "0\n",
		"devices/system/node/node0/cpulist": "0-1,4-5\n", "devices/system/node/node0/meminfo": "Node 0 MemTotal:  100 kB\nNode 0 MemFree: 1 kB\n",
		"devices/system/node/node1/cpulist": "2-3,6-7\n", "devices/system/node/node1/meminfo": "Node 1 MemTotal:  50 kB\n",
		"devices/system/node/power/x":                                          "",
		"devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages": "1\n",
		"devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages":    "3\n",
		"devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages":    "0\n",
	}
	for cpu, place := range []struct{ core, socket string }{{"0", "0"}, {"8", "0"}, {"0", "1"}, {"8", "1"}, {"0", "0"}, {"8", "0"}, {"0", "1"}, {"8", "1"}} {
		at := "devices/system/cpu/cpu" + string(rune('0'+cpu)) + "/topology/"
		sys[at+"core_id"], sys[at+"physical_package_id"] = place.core, place.socket
	}
	proc := tree(t, map[string]string{"stat": stat, "meminfo": meminfo, "cpuinfo": "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Fast CPU @ 3\n"})
	m, err := New(Options{Proc: proc, Sys: tree(t, sys), Clock: clocktesting.NewFakePassiveClock(now)})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	got, err := m.Topology(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := host.Topology{
		Model: extension.CPUBasicInfo{CPUModel: "Fast CPU @ 3", VendorID: "GenuineIntel", HyperThreadEnabled: true, TurboEnabled: true},
		CPUs: []extension.CPUInfo{
			{ID: 0, Core: 0, Socket: 0, Node: 0}, {ID: 1, Core: 1, Socket: 0, Node: 0}, {ID: 2, Core: 2, Socket: 1, Node: 1},
			{ID: 3, Core: 3, Socket: 1, Node: 1}, {ID: 4, Core: 0, Socket: 0, Node: 0}, {ID: 5, Core: 1, Socket: 0, Node: 0}, {ID: 6, Core: 2, Socket: 1, Node: 1},
		},
		NUMANodes: []host.NUMANode{{ID: 0, Memory: 100 << 10}, {ID: 1, Memory: 50 << 10, HugePages: []host.HugePages{{Size: 2 << 20, Count: 3}, {Size: 1 << 30, Count: 1}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("topology (-want +got):\n%s", diff)
	}
	capacity, err := m.Capacity(t.Context())
	if want := (podrequest.Amount{MilliCPU: 7000, Memory: 16000000 << 10}); err != nil || capacity != want {
		t.Errorf("capacity %+v, %v, want %+v", capacity, err, want)
	}
}

func TestThisMachine(t *testing.T) {
	proc, err := files.NewReal("/proc")
	if err != nil {
		t.Skip(err)
	}
	defer proc.Close()
	sys, err := files.NewReal("/sys")
	if err != nil {
		t.Skip(err)
	}
	defer sys.Close()
	cgroups, err := files.NewReal("/sys/fs/cgroup")
	if err != nil {
		t.Skip(err)
	}
	defer cgroups.Close()
	m, err := New(Options{Proc: proc, Sys: sys, Cgroup: cgroups, Layout: cgroup.Layout{Version: cgroup.V1}, Clock: clocktesting.NewFakePassiveClock(now)})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	capacity, err := m.Capacity(t.Context())
	if err != nil || capacity.MilliCPU < 1000 || capacity.Memory < 1<<26 {
		t.Errorf("capacity %+v, %v", capacity, err)
	}
	if topology, err := m.Topology(t.Context()); err != nil || len(topology.CPUs) != int(capacity.MilliCPU/1000) || len(topology.NUMANodes) == 0 {
		t.Errorf("topology %+v, %v", topology, err)
	}
	var first, second host.Snapshot
	if err := m.Read(t.Context(), &first); err != nil {
		t.Fatal(err)
	}
	if err := m.Read(t.Context(), &second); err != nil || second.Node.CPU < first.Node.CPU || first.Node.CPU == 0 || second.Node.Memory > capacity.Memory {
		t.Errorf("readings %+v and %+v, %v", first.Node, second.Node, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(stat))
	f.Add([]byte(meminfo))
	f.Add([]byte("some avg10=0.00 total=9223372036854775807\nfull total=1\n"))
	f.Add([]byte("8:0 rbytes=9223372036854775807 wbytes=1\n8:1 rbytes=9223372036854775807 wios=-1\ncfei 1 2 9223372036854775807 9223372036854775807"))
	f.Add([]byte("anon N0=9223372036854775807 N1=1\nhierarchical_anon=1 N0=1"))
	f.Add([]byte("cpu 99999999999999999999 1"))
	f.Add([]byte("usage_usec 9223372036854775807\ninactive_file -1"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if used, err := busy(content); err == nil && used < 0 {
			t.Errorf("busy for %s", used)
		}
		if memory, cache, err := inUse(content); err == nil && (memory < 0 || cache < 0) {
			t.Errorf("%d bytes in use, %d of cache", memory, cache)
		}
		if cold, io := coldFilePages(content), ioStat(content); cold < 0 || io.ReadBytes < 0 || io.Writes < 0 {
			t.Errorf("%d bytes are cold, %+v", cold, io)
		}
		if stall := stalls(content); stall.Some < 0 || stall.Full < 0 {
			t.Errorf("stalled for %+v", stall)
		}
		if used, cache := nodeInUse(content); used < 0 || cache < 0 {
			t.Errorf("%d bytes in use, %d of cache", used, cache)
		}
		for _, version := range []cgroup.Version{cgroup.V1, cgroup.V2} {
			if throttling := throttlingIn(version, content); throttling.Periods < 0 || throttling.Time < 0 {
				t.Errorf("throttled %+v", throttling)
			}
			if podMemory(version, content, 0) < 0 {
				t.Error("pods use less than nothing")
			}
			if used, err := CPUTime(version, content); err == nil && used < 0 {
				t.Errorf("used for %s", used)
			}
			if bytes, err := inactiveFile(version, content); err == nil && bytes < 0 {
				t.Errorf("%d bytes inactive", bytes)
			}
		}
	})
}
