package cpuset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"koordinator.sh/koord/api/extension"
)

// Group is the CPUs that a core, a NUMA node or a socket is made of.
type Group struct {
	// ID of the NUMA node or the socket as the kernel numbers them; of a core, its number in the Topology.
	ID   int
	CPUs CPUSet
	// size is CPUs.Len().
	size int
}

// Topology says how the logical CPUs of a node form cores, NUMA nodes and sockets. It is read-only and safe for
// concurrent use.
type Topology struct {
	// CPUs is all of them.
	CPUs CPUSet
	// Cores, in the order of their lowest CPU.
	Cores []Group
	// Nodes are the NUMA nodes, by id.
	Nodes []Group
	// Sockets, by id.
	Sockets []Group
	// coreOf, nodeOf and socketOf give, for a CPU, the index into the slices above; -1 for ids that do not exist.
	coreOf, nodeOf, socketOf []int
	// uniform is true when all cores have as many CPUs as each other.
	uniform bool
}

// NewTopology checks and indexes what a NodeResourceTopology reports. A core is identified by its socket and its number,
// because some machines number cores per socket. NUMA nodes need not lie within one socket, nor sockets within one NUMA node.
func NewTopology(reported *extension.CPUTopology) (*Topology, error) {
	if reported == nil || len(reported.Detail) == 0 {
		return nil, errors.New("the topology lists no CPUs")
	}
	type coreID struct{ socket, core int32 }
	ids := make([]int, 0, len(reported.Detail))
	cores, nodes, sockets := map[coreID][]int{}, map[int32][]int{}, map[int32][]int{}
	for _, cpu := range reported.Detail {
		if cpu.ID < 0 || cpu.ID > extension.MaxCPUID || cpu.Core < 0 || cpu.Node < 0 || cpu.Socket < 0 {
			return nil, fmt.Errorf("the topology lists cpu %d on core %d, NUMA node %d, socket %d, which cannot be", cpu.ID, cpu.Core, cpu.Node, cpu.Socket)
		}
		id, core := int(cpu.ID), coreID{cpu.Socket, cpu.Core}
		ids = append(ids, id)
		cores[core] = append(cores[core], id)
		nodes[cpu.Node] = append(nodes[cpu.Node], id)
		sockets[cpu.Socket] = append(sockets[cpu.Socket], id)
	}
	t := &Topology{CPUs: Of(ids...)}
	if t.CPUs.Len() != len(ids) {
		return nil, errors.New("the topology lists a CPU twice")
	}
	for _, cpus := range cores {
		t.Cores = append(t.Cores, newGroup(0, cpus))
	}
	slices.SortFunc(t.Cores, func(a, b Group) int { return cmp.Compare(a.lowest(), b.lowest()) })
	for i := range t.Cores {
		t.Cores[i].ID = i
	}
	t.Nodes, t.Sockets = groups(nodes), groups(sockets)
	t.index(slices.Max(ids))
	return t, nil
}

func newGroup(id int, cpus []int) Group { return Group{ID: id, CPUs: Of(cpus...), size: len(cpus)} }

func (g Group) lowest() int {
	for cpu := range g.CPUs.All() {
		return cpu
	}
	return 0
}

func groups(members map[int32][]int) []Group {
	list := make([]Group, 0, len(members))
	for id, cpus := range members {
		list = append(list, newGroup(int(id), cpus))
	}
	slices.SortFunc(list, func(a, b Group) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

func (t *Topology) index(highest int) {
	t.coreOf, t.nodeOf, t.socketOf = indexOf(t.Cores, highest), indexOf(t.Nodes, highest), indexOf(t.Sockets, highest)
	t.uniform = true
	for _, core := range t.Cores {
		t.uniform = t.uniform && core.size == t.Cores[0].size
	}
}

func indexOf(groups []Group, highest int) []int {
	index := make([]int, highest+1)
	for i := range index {
		index[i] = -1
	}
	for i, group := range groups {
		for cpu := range group.CPUs.All() {
			index[cpu] = i
		}
	}
	return index
}

// CPUsPerCore is the number of logical CPUs of a physical core: 2 with hyper-threading. Of a machine with different
// cores it is the mean, rounded down.
func (t *Topology) CPUsPerCore() int { return t.CPUs.Len() / len(t.Cores) }

// Countable is true when counts of CPUs may stand for sets of them: all cores are alike, and each lies on one NUMA node.
func (t *Topology) Countable() bool {
	if !t.uniform {
		return false
	}
	for _, core := range t.Cores {
		for cpu := range core.CPUs.All() {
			if t.nodeOf[cpu] != t.nodeOf[core.lowest()] {
				return false
			}
		}
	}
	return true
}

// Node returns the CPUs of a NUMA node, none when there is no such node.
func (t *Topology) Node(id int) CPUSet {
	if i, found := slices.BinarySearchFunc(t.Nodes, id, func(g Group, id int) int { return cmp.Compare(g.ID, id) }); found {
		return t.Nodes[i].CPUs
	}
	return CPUSet{}
}

// closure returns the CPUs of all the groups that hold one of the given CPUs.
func closure(groups []Group, cpus CPUSet) CPUSet {
	var all CPUSet
	for _, group := range groups {
		if group.CPUs.Meets(cpus) {
			all = all.Union(group.CPUs)
		}
	}
	return all
}
