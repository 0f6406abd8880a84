package cpuset

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"koordinator.sh/koord/api/extension"
)

// oracle knows a machine of at most 8 CPUs by bit masks, and nothing of the code it checks.
type oracle struct {
	cores, nodes, sockets []uint8
}

func masks(groups []Group) []uint8 {
	var list []uint8
	for _, group := range groups {
		list = append(list, mask(group.CPUs))
	}
	return list
}

func mask(cpus CPUSet) uint8 {
	var m uint8
	for cpu := range cpus.All() {
		m |= 1 << cpu
	}
	return m
}

func fromMask(m uint8) CPUSet {
	var cpus []int
	for cpu := range 8 {
		if m&(1<<cpu) != 0 {
			cpus = append(cpus, cpu)
		}
	}
	return Of(cpus...)
}

// meets reports whether a set satisfies the required policy.
func (o *oracle) meets(chosen uint8, policy extension.CPUBindPolicy) bool {
	for _, core := range o.cores {
		on := chosen & core
		if policy == fullPCPUs && on != 0 && on != core || policy == spreadByPCPUs && bits.OnesCount8(on) > 1 {
			return false
		}
	}
	return true
}

// rank says how good a set is; smaller is better, the first difference decides.
func (o *oracle) rank(chosen, free, kept uint8, request Request) [6]int {
	var rank [6]int
	notIdle, touched, doubled := 0, 0, 0
	for _, core := range o.cores {
		on := chosen & core
		if on == 0 {
			continue
		}
		touched++
		if free&core != core {
			notIdle += bits.OnesCount8(on)
		}
		if bits.OnesCount8(on) > 1 {
			doubled = 1
		}
	}
	if chosen&kept == 0 {
		free &^= kept
	} else {
		rank[1] = 1
	}
	level, room := o.place(chosen, free, request.Strategy)
	switch {
	case request.Policy == fullPCPUs:
		least := (request.Count + bits.OnesCount8(o.cores[0]) - 1) / bits.OnesCount8(o.cores[0])
		if notIdle > 0 || touched > least {
			rank[0], rank[2] = 1, notIdle
			return rank
		}
		rank[3], rank[4] = level, room
	case request.Policy == spreadByPCPUs:
		rank[2], rank[3], rank[4] = level, doubled, room
	default:
		rank[2], rank[3] = level, room
	}
	return rank
}

// place says how local a set is, and how the strategy ranks the NUMA node or socket it lies in. Under DistributeEvenly
// it is the largest share of a NUMA node.
func (o *oracle) place(chosen, free uint8, strategy extension.NUMAAllocateStrategy) (level, room int) {
	if strategy == evenly {
		for _, node := range o.nodes {
			level = max(level, bits.OnesCount8(chosen&node))
		}
		return level, 0
	}
	for level, groups := range [][]uint8{o.nodes, o.sockets} {
		for _, group := range groups {
			if chosen&^group == 0 {
				room := bits.OnesCount8(free & group)
				if strategy == least {
					room = -room
				}
				return level, room
			}
		}
	}
	return 2, 0
}

func (o *oracle) best(free, kept uint8, request Request) (best [6]int, found bool) {
	for chosen := free; ; chosen = (chosen - 1) & free {
		if bits.OnesCount8(chosen) == request.Count && (!request.Required || o.meets(chosen, request.Policy)) {
			if rank := o.rank(chosen, free, kept, request); !found || slices.Compare(rank[:], best[:]) < 0 {
				best, found = rank, true
			}
		}
		if chosen == 0 {
			return best, found
		}
	}
}

// TestTakeAgainstAllSets compares Take, for every state of small machines, with a walk through all sets of CPUs.
func TestTakeAgainstAllSets(t *testing.T) {
	for _, shape := range [][4]int32{{1, 2, 2, 2}, {2, 1, 2, 2}, {2, 2, 1, 2}, {2, 2, 2, 1}, {1, 1, 4, 2}} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			t.Parallel()
			topology := machine(t, shape[0], shape[1], shape[2], shape[3])
			o := &oracle{cores: masks(topology.Cores), nodes: masks(topology.Nodes), sockets: masks(topology.Sockets)}
			for free := range 256 {
				for count := 1; count <= 8; count++ {
					o.checkState(t, topology, uint8(free), count)
				}
			}
		})
	}
}

func (o *oracle) checkState(t *testing.T, topology *Topology, free uint8, count int) {
	owned := ^free
	for _, strategy := range []extension.NUMAAllocateStrategy{mostAllocated, least, evenly} {
		for _, policy := range []extension.CPUBindPolicy{fullPCPUs, spreadByPCPUs, extension.CPUBindPolicyConstrainedBurst} {
			for _, required := range []bool{false, true} {
				request := Request{Count: count, Policy: policy, Required: required, Strategy: strategy}
				supply := Supply{Topology: topology, Free: fromMask(free)}
				o.check(t, supply, request, 0)
				supply.CoreExclusive = fromMask(owned & 0b00010001)
				supply.NodeExclusive = supply.CoreExclusive
				request.Exclusive = extension.CPUExclusivePolicyPCPULevel
				o.check(t, supply, request, spreadOver(o.cores, owned&0b00010001))
				request.Exclusive = extension.CPUExclusivePolicyNUMANodeLevel
				o.check(t, supply, request, spreadOver(o.nodes, owned&0b00010001))
			}
		}
	}
}

func spreadOver(groups []uint8, owners uint8) uint8 {
	var all uint8
	for _, group := range groups {
		if group&owners != 0 {
			all |= group
		}
	}
	return all
}

func (o *oracle) check(t *testing.T, supply Supply, request Request, kept uint8) {
	t.Helper()
	free := mask(supply.Free)
	want, exists := o.best(free, kept, request)
	got, shortage := Take(supply, request, nil)
	about := func() string { return fmt.Sprintf("free %s, kept %s, %+v", supply.Free, fromMask(kept), request) }
	if (shortage == Enough) != exists {
		t.Fatalf("%s: shortage %d, a set exists: %v", about(), shortage, exists)
	}
	if fits := Fits(supply.Topology, supply.Free, request.Count, request.Policy, request.Required); fits != shortage {
		t.Fatalf("%s: Fits says %d, Take %d", about(), fits, shortage)
	}
	if !exists {
		return
	}
	chosen := mask(got)
	if got.Len() != request.Count || chosen&^free != 0 {
		t.Fatalf("%s: took %s", about(), got)
	}
	if request.Required && !o.meets(chosen, request.Policy) {
		t.Fatalf("%s: took %s, which does not meet the policy", about(), got)
	}
	if rank := o.rank(chosen, free, kept, request); rank != want {
		t.Fatalf("%s: took %s of rank %v, the best is %v", about(), got, rank, want)
	}
}
