package machine

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

// id of a container.
var id = strings.Repeat("c", 64)

// node0 and node1 are meminfo of two NUMA nodes, in which 600 and 200 KiB are neither free nor cache.
const (
	node0 = "Node 0 MemTotal: 1000 kB\nNode 0 MemFree: 300 kB\nNode 0 Active(file): 40 kB\nNode 0 Inactive(file): 50 kB\nNode 0 SReclaimable: 10 kB\n"
	node1 = "Node 1 MemTotal: 1000 kB\nNode 1 MemFree: 800 kB\n"
)

// machineOf makes a machine of a layout with one best-effort pod of one container and an application beside.
func machineOf(layout cgroup.Layout) map[string]map[string]string {
	proc := map[string]string{
		"stat":    "cpu  30 0 0 0 0 0 0 0\ncpu0 10 0 0 9 0 0 0 0\ncpu1 20 0 0 9 0 0 0 0\nintr 1\n",
		"meminfo": meminfo, "cpuinfo": "",
		"pressure/cpu": "some avg10=1.00 avg60=0.00 avg300=0.00 total=5000\n", "pressure/memory": "some avg10=0 avg60=0 avg300=0 total=1\nfull avg10=0 avg60=0 avg300=0 total=2\n",
	}
	sys := map[string]string{"devices/system/cpu/online": "0-1\n"}
	for cpu, socket := range []string{"0", "1"} {
		at := "devices/system/cpu/cpu" + string(rune('0'+cpu)) + "/topology/"
		sys[at+"core_id"], sys[at+"physical_package_id"] = "0", socket
		sys["devices/system/node/node"+socket+"/cpulist"] = socket
	}
	sys["devices/system/node/node0/meminfo"], sys["devices/system/node/node1/meminfo"] = node0, node1
	groups := map[string]string{}
	pod := layout.Pod("BestEffort", "a")
	for i, at := range []string{layout.QoS("BestEffort"), pod, pod + "/" + id, "app"} {
		usage := []string{"4", "3", "2", "1"}[i]
		set(groups, layout, at, usage)
	}
	set(groups, layout, layout.QoS("Burstable"), "9")
	if layout.Version == cgroup.V2 {
		groups[layout.Kubepods()+"/memory.numa_stat"] = "anon N0=1000 N1=2000\nfile N0=9 N1=9\n"
	} else {
		groups["memory/"+layout.Kubepods()+"/memory.numa_stat"] = "total=9 N0=9 N1=0\nanon=9 N0=9 N1=9\nhierarchical_anon=3 N0=1 N1=2\n"
	}
	return map[string]map[string]string{"proc": proc, "sys": sys, "cgroup": groups}
}

// set gives a cgroup all its files; the digit distinguishes it from others.
func set(groups map[string]string, layout cgroup.Layout, at, digit string) {
	pressure := "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + digit + "000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=" + digit + "00\n"
	idle := "# buckets: 1,2,5\n# || /\n  csei 9 9 9\n  cfei 100 100 " + digit + "\n  dfui 100 100 1 1\n"
	if layout.Version == cgroup.V2 {
		groups[at+"/cpu.stat"] = "usage_usec " + digit + "000\nnr_periods " + digit + "0\nnr_throttled " + digit + "\nthrottled_usec " + digit + "\n"
		groups[at+"/memory.current"] = digit + "000"
		groups[at+"/memory.stat"] = "anon 1\ninactive_file 500\n"
		groups[at+"/memory.idle_page_stats"] = idle
		groups[at+"/cpu.pressure"], groups[at+"/memory.pressure"], groups[at+"/io.pressure"] = pressure, pressure, pressure
		groups[at+"/io.stat"] = "8:0 rbytes=" + digit + " wbytes=2 rios=3 wios=4 dbytes=5 dios=6\n8:16 rbytes=10 wbytes=20 rios=30 wios=40 dbytes=0 dios=0\n"
		return
	}
	groups["cpuacct/"+at+"/cpuacct.usage"] = digit + "000000"
	groups["cpu/"+at+"/cpu.stat"] = "nr_periods " + digit + "0\nnr_throttled " + digit + "\nthrottled_time " + digit + "000\n"
	groups["memory/"+at+"/memory.usage_in_bytes"] = digit + "000"
	groups["memory/"+at+"/memory.stat"] = "total_inactive_file 500\n"
	groups["memory/"+at+"/memory.idle_page_stats"] = idle
	for _, of := range []string{"cpu", "memory", "io"} {
		groups["unified/"+at+"/"+of+".pressure"] = pressure
	}
	groups["blkio/"+at+"/blkio.throttle.io_service_bytes_recursive"] = "8:0 Read " + digit + "\n8:0 Write 2\n8:0 Total 9\n8:16 Read 10\n8:16 Write 20\nTotal 99\n"
	groups["blkio/"+at+"/blkio.throttle.io_serviced_recursive"] = "8:0 Read 3\n8:0 Write 4\n8:16 Read 30\n8:16 Write 40\n"
}

func TestEverythingOfAMachine(t *testing.T) {
	details := func(digit int64) host.Details {
		stall := host.Stall{Some: time.Duration(digit) * time.Millisecond, Full: time.Duration(digit) * 100 * time.Microsecond}
		return host.Details{
			Throttling: host.Throttling{Periods: 10 * digit, Throttled: digit, Time: time.Duration(digit) * time.Microsecond},
			Pressure:   host.Pressure{At: now, CPU: stall, Memory: stall, IO: stall},
			BlockIO:    host.BlockIO{At: now, ReadBytes: 10 + digit, WrittenBytes: 22, Reads: 33, Writes: 44},
		}
	}
	counter := func(digit int64) host.Counter {
		return host.Counter{CPU: time.Duration(digit) * time.Millisecond, Memory: 1000*digit - 500, Cache: 500, Cold: digit + 2}
	}
	for name, layout := range map[string]cgroup.Layout{
		"version 1": {Version: cgroup.V1, Driver: cgroup.Cgroupfs}, "version 2, systemd": {Version: cgroup.V2, Driver: cgroup.Systemd},
	} {
		t.Run(name, func(t *testing.T) {
			content := machineOf(layout)
			if layout.Driver == cgroup.Systemd {
				pod := layout.Pod("BestEffort", "a")
				set(content["cgroup"], layout, pod+"/cri-containerd-"+id+".scope", "2")
			}
			trees := map[string]*files.Real{}
			for name := range content {
				trees[name] = tree(t, content[name])
			}
			m, err := New(Options{Proc: trees["proc"], Sys: trees["sys"], Cgroup: trees["cgroup"], Layout: layout, Clock: clocktesting.NewFakePassiveClock(now)})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			m.Watch([]host.Application{{Name: "gone", Cgroup: "none"}, {Name: "app", Cgroup: "app"}})
			var got host.Snapshot
			for range Turns + 1 { // one at the same moment does not read slowly
				m.slowly = time.Time{}
				if err := m.Read(t.Context(), &got); err != nil {
					t.Fatal(err)
				}
			}
			factor := int64(1)
			if layout.Version == cgroup.V1 {
				factor = pageSize
			}
			podMemory := []int64{1000, 2000}
			if layout.Version == cgroup.V1 {
				podMemory = []int64{factor, 2 * factor}
			}
			want := host.Snapshot{
				Time: now, Node: host.Counter{CPU: 300 * time.Millisecond, Memory: 6000000 << 10, Cache: 9000000 << 10},
				Pressure: host.Pressure{At: now, CPU: host.Stall{Some: 5 * time.Millisecond}, Memory: host.Stall{Some: time.Microsecond, Full: 2 * time.Microsecond}},
				NUMANodes: []host.NUMACounter{
					{ID: 0, Counter: host.Counter{CPU: 100 * time.Millisecond, Memory: 600 << 10, Cache: 100 << 10}, PodMemory: podMemory[0]},
					{ID: 1, Counter: host.Counter{CPU: 200 * time.Millisecond, Memory: 200 << 10}, PodMemory: podMemory[1]},
				},
				Pods:         []host.PodCounter{{UID: "a", Counter: counter(3), Details: details(3)}},
				Containers:   []host.ContainerCounter{{Pod: "a", ID: id, Counter: counter(2), Details: details(2)}},
				BestEffort:   host.GroupCounter{Counter: counter(4), Details: details(4)},
				Applications: []host.ApplicationCounter{{Name: "app", Counter: counter(1)}},
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("snapshot (-want +got):\n%s", diff)
			}
			if allocations := testing.AllocsPerRun(20, func() {
				for range Turns { // until all of each cgroup was read
					m.slowly = time.Time{}
					if err := m.Read(t.Context(), &got); err != nil {
						t.Fatal(err)
					}
				}
			}); allocations > 0 {
				t.Errorf("%d readings of an unchanged machine allocate %g times", Turns, allocations)
			}
		})
	}
}
