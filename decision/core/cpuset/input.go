package cpuset

import (
	"koordinator.sh/koord/api/extension"
)

// Supply is what CPUs can be taken from.
type Supply struct {
	Topology *Topology
	// Free CPUs may be taken: no pod owns them, and they are not reserved.
	Free CPUSet
	// Preferred CPUs, such as those a reservation holds for the pod, are taken before all others. Those that are not free
	// are ignored.
	Preferred CPUSet
	// CoreExclusive and NodeExclusive are owned by pods that want to share no core, or no NUMA node, with their like.
	CoreExclusive, NodeExclusive CPUSet
}

// Request is what a pod asks for.
type Request struct {
	// Count of CPUs, at least 1.
	Count int
	// Policy is FullPCPUs, SpreadByPCPUs, or anything else for no wish.
	Policy extension.CPUBindPolicy
	// Required refuses what does not meet the policy.
	Required bool
	// Exclusive is a wish: it is met when possible.
	Exclusive extension.CPUExclusivePolicy
	// Strategy orders NUMA nodes and sockets; empty is MostAllocated.
	Strategy extension.NUMAAllocateStrategy
}
