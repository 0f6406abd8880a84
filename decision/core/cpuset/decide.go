package cpuset

import (
	"koordinator.sh/koord/api/extension"
)

// Shortage says why CPUs cannot be taken.
type Shortage int

const (
	// Enough means that there is none.
	Enough Shortage = iota
	// TooFew CPUs are free.
	TooFew
	// Unbindable means that enough are free, but not in the way that the required policy wants them.
	Unbindable
)

// Take chooses CPUs. It returns a set of exactly Count free CPUs whenever there is one that meets the required policy,
// and always the same for the same arguments. Trace may be nil.
//
// Of all such sets it takes one that is first in this order:
//
//   - FullPCPUs: idle cores only, as few as possible, when they suffice; then no CPU that the exclusive policy keeps out;
//     then one NUMA node before one socket before several. When idle cores do not suffice: no CPU kept out, then as few
//     CPUs as possible from cores that are not idle.
//   - SpreadByPCPUs: no CPU that the exclusive policy keeps out, then one NUMA node before one socket before several, then
//     no two CPUs of a core. A required policy takes no two CPUs of a core in the first place.
//   - without a policy: no CPU kept out, then one NUMA node before one socket before several, then the cores with the
//     fewest free CPUs.
//
// Among NUMA nodes, and among sockets, that can give all, MostAllocated takes the one with the fewest free CPUs,
// LeastAllocated the one with the most; then the lower id. DistributeEvenly takes alike from all NUMA nodes in place of
// looking for one. Preferred CPUs come before all of this: as many are used as the policy allows.
func Take(supply Supply, request Request, trace *Trace) (CPUSet, Shortage) {
	t := newTaker(supply, request, trace)
	if request.Count <= 0 {
		return CPUSet{}, Enough
	}
	if supply.Free.Len() < request.Count {
		return CPUSet{}, TooFew
	}
	if taken, ok := t.takePreferred(supply.Free, supply.Preferred.Intersection(supply.Free)); ok {
		return taken, Enough
	}
	if taken, ok := t.take(supply.Free, request.Count); ok {
		return taken, Enough
	}
	return CPUSet{}, Unbindable
}

// taker is one call of Take.
type taker struct {
	topology *Topology
	request  Request
	// kept are the CPUs that the exclusive policy keeps out.
	kept  CPUSet
	trace *Trace
}

func newTaker(supply Supply, request Request, trace *Trace) *taker {
	t := &taker{topology: supply.Topology, request: request, trace: trace}
	switch request.Exclusive {
	case extension.CPUExclusivePolicyPCPULevel:
		t.kept = closure(t.topology.Cores, supply.CoreExclusive)
	case extension.CPUExclusivePolicyNUMANodeLevel:
		t.kept = closure(t.topology.Nodes, supply.NodeExclusive)
	}
	return t
}

// takePreferred uses up preferred CPUs and takes the rest from the others; false when no preferred CPU is of use.
func (t *taker) takePreferred(free, preferred CPUSet) (CPUSet, bool) {
	for count := min(preferred.Len(), t.request.Count); count > 0; count-- {
		first, ok := t.take(preferred, count)
		if !ok {
			continue
		}
		left := free.Difference(first)
		if t.request.Required && t.request.Policy == extension.CPUBindPolicySpreadByPCPUs {
			left = free.Difference(closure(t.topology.Cores, first))
		}
		if rest, ok := t.take(left, t.request.Count-count); ok {
			t.trace.preferred(count)
			return first.Union(rest), true
		}
	}
	return CPUSet{}, false
}

// take is Take without preferred CPUs.
func (t *taker) take(free CPUSet, count int) (CPUSet, bool) {
	if count == 0 {
		return CPUSet{}, true
	}
	if free.Len() < count {
		return CPUSet{}, false
	}
	allowed := []CPUSet{free}
	if t.kept.Meets(free) {
		allowed = []CPUSet{free.Difference(t.kept), free}
	}
	for _, cpus := range allowed {
		if taken, ok := t.search(cpus, count); ok {
			return taken, true
		}
	}
	if t.request.Required || t.request.Policy != extension.CPUBindPolicyFullPCPUs {
		return CPUSet{}, false
	}
	for _, cpus := range allowed {
		if cpus.Len() >= count {
			return t.breakCores(cpus, count), true
		}
	}
	return CPUSet{}, false
}

// Fits reports whether Take would find a set, without computing the set. It does not allocate on machines whose cores are alike.
func Fits(topology *Topology, free CPUSet, count int, policy extension.CPUBindPolicy, required bool) Shortage {
	switch {
	case free.Len() < count:
		return TooFew
	case !required:
		return Enough
	case policy == extension.CPUBindPolicyFullPCPUs:
		if wholeCoresGive(topology, free, count) {
			return Enough
		}
		return Unbindable
	case policy == extension.CPUBindPolicySpreadByPCPUs && CountOf(topology, free).Cores < count:
		return Unbindable
	}
	return Enough
}

func wholeCoresGive(topology *Topology, free CPUSet, count int) bool {
	if topology.uniform {
		return count%topology.Cores[0].size == 0 && CountOf(topology, free).Idle >= count
	}
	_, ok := wholeCores(idleCores(topology, free), count)
	return ok
}

// CountFits is Fits for CPUs that are only counted, of a topology whose cores are alike. Counts of sets that share no core
// may be added up.
func CountFits(topology *Topology, free Count, count int, policy extension.CPUBindPolicy, required bool) Shortage {
	switch {
	case free.Free < count:
		return TooFew
	case !required:
		return Enough
	case policy == extension.CPUBindPolicyFullPCPUs && (count%topology.CPUsPerCore() != 0 || free.Idle < count),
		policy == extension.CPUBindPolicySpreadByPCPUs && free.Cores < count:
		return Unbindable
	}
	return Enough
}

// Count says how a set of free CPUs lies on its cores.
type Count struct {
	// Free CPUs in all.
	Free int
	// Idle is those of cores without any other CPU.
	Idle int
	// Cores with at least one of the CPUs.
	Cores int
}

// Add returns the counts of two sets of CPUs that share no core.
func (c Count) Add(other Count) Count {
	return Count{Free: c.Free + other.Free, Idle: c.Idle + other.Idle, Cores: c.Cores + other.Cores}
}

// Limit is the count when no more than limit of the CPUs may be taken, of cores with the given number of CPUs each.
func (c Count) Limit(limit, perCore int) Count {
	return Count{Free: min(c.Free, limit), Idle: min(c.Idle, limit-limit%perCore), Cores: min(c.Cores, limit)}
}

// CountOf counts a set of free CPUs. It does not allocate.
func CountOf(topology *Topology, free CPUSet) Count {
	var count Count
	for i := range topology.Cores {
		core := &topology.Cores[i]
		found := core.CPUs.countBoth(free)
		if found == 0 {
			continue
		}
		count.Free += found
		count.Cores++
		if found == core.size {
			count.Idle += found
		}
	}
	return count
}
