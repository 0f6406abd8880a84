package simulated

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
)

func TestLayouts(t *testing.T) {
	tests := []struct {
		name         string
		cores, gibs  int64
		wantSiblings string // of CPU 0
		wantZones    []string
	}{
		{name: "a virtual machine has one zone, siblings adjacent", cores: 16, gibs: 64, wantSiblings: "0-1", wantZones: []string{"0-15"}},
		{name: "so has one that is neither small nor large", cores: 24, gibs: 64, wantSiblings: "0-1", wantZones: []string{"0-23"}},
		{name: "a server has two sockets, siblings half of the CPUs apart", cores: 32, gibs: 128, wantSiblings: "0,16", wantZones: []string{"0-7,16-23", "8-15,24-31"}},
		{name: "17 cores do not divide", cores: 34, gibs: 128, wantSiblings: "0,17", wantZones: []string{"0-8,17-25", "9-16,26-33"}},
		{name: "an odd number has no siblings", cores: 3, gibs: 4, wantSiblings: "0", wantZones: []string{"0-2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			machine := Node{Capacity: amount(test.cores, test.gibs)}.Topology()
			cpus, err := cpuset.NewTopology(&extension.CPUTopology{Detail: machine.CPUs})
			if err != nil {
				t.Fatal(err)
			}
			var zones []string
			for _, zone := range cpus.Nodes {
				zones = append(zones, zone.CPUs.String())
			}
			if diff := cmp.Diff(test.wantZones, zones); diff != "" {
				t.Errorf("zones (-want +got):\n%s", diff)
			}
			if got := cpus.Cores[0].CPUs.String(); got != test.wantSiblings {
				t.Errorf("CPU 0 shares its core with %s, want %s", got, test.wantSiblings)
			}
			if hyper := len(cpus.Cores) < cpus.CPUs.Len(); machine.Model.HyperThreadEnabled != hyper {
				t.Errorf("hyper-threading %t, want %t", machine.Model.HyperThreadEnabled, hyper)
			}
		})
	}
}

func TestEveryMachineIsDividedWithoutRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node := Node{Capacity: podrequest.Amount{MilliCPU: rapid.Int64Range(-1000, 9000_000).Draw(t, "cpu"), Memory: rapid.Int64Range(-5, 1<<45).Draw(t, "memory")}}
		h := testHost(node)
		h.node = node // a capacity of nothing is not the default one
		machine, err := h.Topology(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var memory int64
		cpus := map[int32]int{}
		for _, zone := range machine.NUMANodes {
			memory += zone.Memory
			cpus[zone.ID] = 0
		}
		for i, cpu := range machine.CPUs {
			if cpu.ID != int32(i) {
				t.Fatalf("CPU %d at place %d", cpu.ID, i)
			}
			if _, known := cpus[cpu.Node]; !known {
				t.Fatalf("CPU %d lies on NUMA node %d, which the machine does not have", i, cpu.Node)
			}
			cpus[cpu.Node]++
		}
		if memory != max(node.Capacity.Memory, 0) {
			t.Fatalf("zones have %d bytes together, of %d", memory, node.Capacity.Memory)
		}
		if want := int(min(max(node.Capacity.MilliCPU/1000, 0), extension.MaxCPUID+1)); len(machine.CPUs) != want {
			t.Fatalf("%d CPUs, want %d", len(machine.CPUs), want)
		}
		if len(cpus) == 2 && (cpus[0] < cpus[1] || cpus[0] > cpus[1]+2) {
			t.Fatalf("zones have %d and %d CPUs", cpus[0], cpus[1])
		}
		if diff := cmp.Diff(node.Topology(), machine); diff != "" {
			t.Fatalf("asked again, the machine is another one:\n%s", diff)
		}
	})
}
