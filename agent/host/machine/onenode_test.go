package machine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
)

// TestTheOnlyNodeHasAllMemoryOfTheMachine, though the kernel counts a part of it there: it does where memory came while it started.
func TestTheOnlyNodeHasAllMemoryOfTheMachine(t *testing.T) {
	layout := cgroup.Layout{Version: cgroup.V2, Driver: cgroup.Cgroupfs}
	for name, meminfo := range map[string]string{"it counts a part": node0, "it counts nothing": "Node 0 MemTotal: 0 kB\n"} {
		t.Run(name, func(t *testing.T) {
			content := machineOf(layout)
			sys := content["sys"]
			delete(sys, "devices/system/node/node1/cpulist")
			delete(sys, "devices/system/node/node1/meminfo")
			sys["devices/system/node/node0/cpulist"], sys["devices/system/node/node0/meminfo"] = "0-1", meminfo
			m, err := New(Options{
				Proc: tree(t, content["proc"]), Sys: tree(t, sys), Cgroup: tree(t, content["cgroup"]), Layout: layout, Clock: clocktesting.NewFakePassiveClock(now),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			topology, err := m.Topology(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]host.NUMANode{{Memory: 16000000 << 10}}, topology.NUMANodes); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
			var got host.Snapshot
			if err := m.Read(t.Context(), &got); err != nil {
				t.Fatal(err)
			}
			want := []host.NUMACounter{{
				Counter: host.Counter{CPU: got.Node.CPU, Memory: 6000000 << 10, Cache: 9000000 << 10}, PodMemory: got.Pods[0].Memory,
			}}
			if diff := cmp.Diff(want, got.NUMANodes); diff != "" {
				t.Errorf("used (-want +got):\n%s", diff)
			}
		})
	}
}
