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
	// Memory in bytes.
	Memory int64
}
