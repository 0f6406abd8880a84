package host

import "koordinator.sh/koord/api/extension"

// Topology is how a machine is built: which of its logical CPUs share a core, a NUMA node and a socket, and where its
// memory is.
type Topology struct {
	// Model of the CPUs.
	Model extension.CPUBasicInfo
	// CPUs that are online, by id. Ids of cores are unique on the machine, not only within their socket.
	CPUs []extension.CPUInfo
	// NUMANodes by id.
	NUMANodes []NUMANode
}

// NUMANode is memory, and the CPUs whose Node is its id.
type NUMANode struct {
	// ID as the kernel numbers it.
	ID int32
	// Memory in bytes, huge pages included.
	Memory int64
	// HugePages by size, the smallest first; sizes of which there are none are left out.
	HugePages []HugePages
}

// HugePages are set aside from a node's memory.
type HugePages struct {
	// Size of one in bytes, and how many there are.
	Size, Count int64
}
