package cpuset

import (
	"testing"

	"koordinator.sh/koord/api/extension"
)

// machine has sockets, NUMA nodes in each socket, cores in each node and CPUs in each core; the CPUs of a core have
// adjacent ids.
func machine(t testing.TB, sockets, nodes, cores, threads int32) *Topology {
	t.Helper()
	reported := &extension.CPUTopology{}
	for id := range sockets * nodes * cores * threads {
		core := id / threads
		node := core / cores
		reported.Detail = append(reported.Detail, extension.CPUInfo{ID: id, Core: core, Node: node, Socket: node / nodes})
	}
	topology, err := NewTopology(reported)
	if err != nil {
		t.Fatal(err)
	}
	return topology
}

func set(t testing.TB, list string) CPUSet {
	t.Helper()
	cpus, err := Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	return cpus
}

const (
	fullPCPUs     = extension.CPUBindPolicyFullPCPUs
	spreadByPCPUs = extension.CPUBindPolicySpreadByPCPUs
	mostAllocated = extension.NUMAMostAllocated
	least         = extension.NUMALeastAllocated
	evenly        = extension.NUMADistributeEvenly
)
