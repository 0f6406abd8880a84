package cpuset

import (
	"strings"
	"testing"

	"koordinator.sh/koord/api/extension"
)

func TestTake(t *testing.T) {
	tests := []struct {
		name                           string
		machine                        [4]int32
		taken, preferred               string
		coreExclusive, nodeExclusive   string
		request                        Request
		want                           string
		wantShortage                   Shortage
		wantLastAttempt, wantSomewhere string
	}{
		{name: "the first core of an empty node", machine: [4]int32{1, 1, 4, 2}, request: Request{Count: 2, Policy: fullPCPUs}, want: "0-1"},
		{name: "the next core", machine: [4]int32{1, 1, 4, 2}, taken: "0-1", request: Request{Count: 2, Policy: fullPCPUs}, want: "2-3"},
		{name: "a whole NUMA node", machine: [4]int32{2, 1, 4, 2}, request: Request{Count: 8, Policy: fullPCPUs}, want: "0-7"},
		{name: "more than a NUMA node", machine: [4]int32{2, 1, 4, 2}, request: Request{Count: 12, Policy: fullPCPUs}, want: "0-11"},
		{
			name: "the NUMA node that has room for all", machine: [4]int32{2, 1, 4, 2}, taken: "0-1", request: Request{Count: 8, Policy: fullPCPUs}, want: "8-15",
			wantSomewhere: "NUMA node 0: 6 CPUs free, 6 usable, 8 needed", wantLastAttempt: "NUMA node 1: 8 CPUs free, 8 usable, 8 needed: took 8-15",
		},
		{name: "the socket whose idle cores suffice", machine: [4]int32{2, 2, 2, 2}, taken: "0,2,4,8,12", request: Request{Count: 4, Policy: fullPCPUs}, want: "10-11,14-15"},
		{
			name: "idle cores and the fullest NUMA nodes", machine: [4]int32{2, 2, 2, 2}, taken: "0,2,4,8,10,12", request: Request{Count: 6, Policy: fullPCPUs, Strategy: mostAllocated}, want: "5-7,13-15",
			wantLastAttempt: "machine: 10 CPUs free, 4 usable, 6 needed: took 5-7,13-15, 2 of them on cores that are not idle",
		},
		{name: "idle cores and the emptiest NUMA nodes", machine: [4]int32{2, 2, 2, 2}, taken: "0,2,4,8,10,12", request: Request{Count: 6, Policy: fullPCPUs, Strategy: least}, want: "1,3,6-7,14-15"},
		{name: "broken cores do not satisfy a required policy", machine: [4]int32{2, 2, 2, 2}, taken: "0,2,4,8,10,12", request: Request{Count: 6, Policy: fullPCPUs, Required: true}, wantShortage: Unbindable},
		{name: "one CPU of each core, then the siblings", machine: [4]int32{1, 1, 4, 2}, request: Request{Count: 6, Policy: spreadByPCPUs}, want: "0-4,6"},
		{name: "spread prefers the NUMA node with enough cores", machine: [4]int32{2, 1, 4, 2}, taken: "0-1", request: Request{Count: 4, Policy: spreadByPCPUs}, want: "8,10,12,14"},
		{name: "required spread goes across NUMA nodes", machine: [4]int32{2, 1, 4, 2}, request: Request{Count: 6, Policy: spreadByPCPUs, Required: true}, want: "0,2,4,6,8,10"},
		{name: "required spread has no more than cores", machine: [4]int32{1, 1, 4, 2}, request: Request{Count: 5, Policy: spreadByPCPUs, Required: true}, wantShortage: Unbindable},
		{name: "too few are free", machine: [4]int32{1, 1, 4, 2}, taken: "0-5", request: Request{Count: 3, Policy: fullPCPUs}, wantShortage: TooFew},
		{name: "the emptiest NUMA node first", machine: [4]int32{2, 1, 4, 2}, taken: "0-1", request: Request{Count: 2, Policy: fullPCPUs, Strategy: least}, want: "8-9"},
		{name: "alike from all NUMA nodes", machine: [4]int32{2, 1, 4, 2}, request: Request{Count: 4, Policy: fullPCPUs, Strategy: evenly}, want: "0-1,8-9"},
		{name: "alike as far as there is room", machine: [4]int32{2, 1, 4, 2}, taken: "0-5", request: Request{Count: 8, Policy: fullPCPUs, Strategy: evenly}, want: "6-13"},
		{
			name: "no core with another exclusive pod", machine: [4]int32{1, 1, 4, 2}, taken: "0", coreExclusive: "0",
			request: Request{Count: 2, Policy: spreadByPCPUs, Exclusive: extension.CPUExclusivePolicyPCPULevel}, want: "2,4",
		},
		{
			name: "no NUMA node with another exclusive pod", machine: [4]int32{2, 1, 4, 2}, taken: "0-1", nodeExclusive: "0-1",
			request: Request{Count: 2, Policy: fullPCPUs, Exclusive: extension.CPUExclusivePolicyNUMANodeLevel}, want: "8-9",
		},
		{
			name: "exclusiveness gives way when nothing else is left", machine: [4]int32{2, 1, 4, 2}, taken: "0-1,8-15", nodeExclusive: "0-1",
			request: Request{Count: 2, Policy: fullPCPUs, Exclusive: extension.CPUExclusivePolicyNUMANodeLevel}, want: "2-3",
		},
		{name: "what a reservation holds comes first", machine: [4]int32{2, 1, 4, 2}, preferred: "12-13", request: Request{Count: 2, Policy: fullPCPUs}, want: "12-13"},
		{name: "and the rest from elsewhere", machine: [4]int32{2, 1, 4, 2}, preferred: "12-13", request: Request{Count: 4, Policy: fullPCPUs}, want: "8-9,12-13"},
		{name: "but not when it breaks a required policy", machine: [4]int32{2, 1, 4, 2}, preferred: "12", request: Request{Count: 2, Policy: fullPCPUs, Required: true}, want: "0-1"},
		{name: "an odd number leaves the sibling of the last CPU", machine: [4]int32{1, 1, 4, 2}, request: Request{Count: 3, Policy: fullPCPUs}, want: "0-2"},
		{name: "without a policy, cores in use come first", machine: [4]int32{1, 1, 4, 2}, taken: "2", request: Request{Count: 1}, want: "3"},
		{name: "as few NUMA nodes of a socket as possible", machine: [4]int32{1, 3, 4, 2}, taken: "2-7,12-15,22-23", request: Request{Count: 10, Policy: fullPCPUs}, want: "8-11,16-21"},
		{name: "nothing", machine: [4]int32{1, 1, 4, 2}, request: Request{Policy: fullPCPUs}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			topology := machine(t, test.machine[0], test.machine[1], test.machine[2], test.machine[3])
			supply := Supply{
				Topology: topology, Free: topology.CPUs.Difference(set(t, test.taken)), Preferred: set(t, test.preferred),
				CoreExclusive: set(t, test.coreExclusive), NodeExclusive: set(t, test.nodeExclusive),
			}
			trace := &Trace{}
			got, shortage := Take(supply, test.request, trace)
			if got.String() != test.want || shortage != test.wantShortage {
				t.Errorf("Take = %q, shortage %d, want %q, %d", got, shortage, test.want, test.wantShortage)
			}
			var lines []string
			for _, attempt := range trace.Attempts {
				lines = append(lines, attempt.String())
			}
			if test.wantLastAttempt != "" && (len(lines) == 0 || lines[len(lines)-1] != test.wantLastAttempt) {
				t.Errorf("attempts %q, want the last to be %q", lines, test.wantLastAttempt)
			}
			if !strings.Contains(strings.Join(lines, "\n"), test.wantSomewhere) {
				t.Errorf("attempts %q, want %q", lines, test.wantSomewhere)
			}
		})
	}
}

// TestMixedCores takes whole cores of one and of two CPUs: 1+2, where 1+1+... would miss.
func TestMixedCores(t *testing.T) {
	topology, err := NewTopology(&extension.CPUTopology{Detail: []extension.CPUInfo{
		{ID: 0, Core: 0}, {ID: 1, Core: 1}, {ID: 2, Core: 2}, {ID: 3, Core: 2}, {ID: 4, Core: 3}, {ID: 5, Core: 3},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for count, want := range map[int]string{1: "0", 2: "0-1", 3: "0,2-3", 5: "0,2-5", 6: "0-5"} {
		got, shortage := Take(Supply{Topology: topology, Free: topology.CPUs}, Request{Count: count, Policy: fullPCPUs, Required: true}, nil)
		if got.String() != want || shortage != Enough {
			t.Errorf("%d CPUs: %q, want %q", count, got, want)
		}
	}
	free := set(t, "2-5")
	if Fits(topology, free, 3, fullPCPUs, true) != Unbindable || Fits(topology, free, 2, fullPCPUs, true) != Enough {
		t.Error("three CPUs cannot come from two cores of two, two can")
	}
}

func TestTopologyRefusesWhatCannotBe(t *testing.T) {
	for name, reported := range map[string]*extension.CPUTopology{
		"none":        nil,
		"empty":       {},
		"twice":       {Detail: []extension.CPUInfo{{ID: 1}, {ID: 1, Core: 1}}},
		"negative":    {Detail: []extension.CPUInfo{{ID: -1}}},
		"beyond":      {Detail: []extension.CPUInfo{{ID: extension.MaxCPUID + 1}}},
		"of no node":  {Detail: []extension.CPUInfo{{ID: 0, Node: -1}}},
		"of no place": {Detail: []extension.CPUInfo{{ID: 0, Socket: -1}}},
	} {
		if _, err := NewTopology(reported); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestCoresAreNumberedAnewInEachSocket(t *testing.T) {
	topology, err := NewTopology(&extension.CPUTopology{Detail: []extension.CPUInfo{
		{ID: 0, Core: 0, Socket: 0}, {ID: 1, Core: 0, Socket: 1}, {ID: 2, Core: 0, Socket: 0}, {ID: 3, Core: 0, Socket: 1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(topology.Cores) != 2 || topology.CPUsPerCore() != 2 || len(topology.Nodes) != 1 || len(topology.Sockets) != 2 {
		t.Errorf("%d cores, %d NUMA nodes, %d sockets", len(topology.Cores), len(topology.Nodes), len(topology.Sockets))
	}
	if got, _ := Take(Supply{Topology: topology, Free: topology.CPUs}, Request{Count: 2, Policy: fullPCPUs}, nil); got.String() != "0,2" {
		t.Errorf("took %s", got)
	}
}
