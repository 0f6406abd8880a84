package simulated

import (
	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/api/extension"
)

// largeMachine is the number of logical CPUs from which on a machine has two sockets.
const largeMachine = 32

// Topology is the layout of a machine of the node's size. Smaller machines are laid out like virtual ones: one socket,
// one NUMA node, the siblings of a core numbered one after the other. From 32 CPUs on there are two sockets, each its own
// NUMA node with half of the memory, and all first siblings come before all second ones, as most servers number them. An
// odd number of CPUs has no siblings. A fraction of a CPU is left out, and so are CPUs beyond the largest id.
func (n Node) Topology() host.Topology {
	cpus := int(min(max(n.Capacity.MilliCPU/1000, 0), extension.MaxCPUID+1))
	threads := 1
	if cpus%2 == 0 {
		threads = 2
	}
	zones := 1
	if cpus >= largeMachine {
		zones = 2
	}
	topology := host.Topology{
		Model: extension.CPUBasicInfo{CPUModel: "Simulated CPU", HyperThreadEnabled: threads == 2, TurboEnabled: true},
		CPUs:  make([]extension.CPUInfo, cpus),
	}
	cores := cpus / threads
	perZone := (cores + zones - 1) / zones
	for id := range cpus {
		core := id / threads
		if zones > 1 {
			core = id % cores
		}
		zone := int32(core / perZone)
		topology.CPUs[id] = extension.CPUInfo{ID: int32(id), Core: int32(core), Socket: zone, Node: zone}
	}
	topology.NUMANodes = numaNodes(zones, max(n.Capacity.Memory, 0))
	return topology
}

// numaNodes divides memory evenly; the first one has what is left over.
func numaNodes(count int, memory int64) []host.NUMANode {
	nodes := make([]host.NUMANode, count)
	each := memory / int64(count)
	for i := range nodes {
		nodes[i] = host.NUMANode{ID: int32(i), Memory: each}
	}
	nodes[0].Memory += memory - each*int64(count)
	return nodes
}
