package suppression

import (
	"koordinator.sh/koord/decision/core/cpuset"
)

// LeastCPUs is how many CPUs best-effort pods keep in any case.
const LeastCPUs = 2

// growthPercent of a node's CPU is given back in one round at most.
const growthPercent = 10

// CPUs is a node's CPUs and who owns them.
type CPUs struct {
	Topology *cpuset.Topology
	// LSR owns CPUs that best-effort pods may borrow.
	LSR cpuset.CPUSet
	// Excluded CPUs are never lent: those of LSE pods, those kept by the node's reservation, those of exclusive SYSTEM pods
	// and those that the kubelet bound to a pod.
	Excluded []Exclusion
}

// Exclusion is CPUs that best-effort pods stay off, and whose they are.
type Exclusion struct {
	// Owner in words: "LSE pods", "node reservation".
	Owner string        `json:"owner"`
	CPUs  cpuset.CPUSet `json:"-"`
}

// CPUChoice is the CPUs that best-effort pods may run on.
type CPUChoice struct {
	// CPUs in the order of the kernel's lists; empty when Hold is set.
	CPUs cpuset.CPUSet `json:"-"`
	// List is CPUs as a Linux CPU list.
	List string `json:"cpus,omitempty"`
	// Hold says why the present CPUs stay; empty when CPUs are to be written.
	Hold string `json:"hold,omitempty"`
	// Trace says how many there are and where from.
	Trace CPUTrace `json:"trace,omitzero"`
}

// Limits of a count.
const (
	LimitBudget    = "budget"
	LimitLeast     = "least"
	LimitStep      = "step"
	LimitAvailable = "available"
)

// Pools that CPUs are taken from.
const (
	PoolLSR    = "LSR"
	PoolShared = "shared"
)

// available are the CPUs that best-effort pods may ever use, and who keeps the others.
func (c CPUs) available() (cpuset.CPUSet, []ExcludedCount) {
	free := c.Topology.CPUs
	var kept []ExcludedCount
	for _, exclusion := range c.Excluded {
		if taken := exclusion.CPUs.Intersection(c.Topology.CPUs); !taken.IsEmpty() {
			kept = append(kept, ExcludedCount{Owner: exclusion.Owner, Count: taken.Len(), List: taken.String()})
			free = free.Difference(taken)
		}
	}
	return free, kept
}

// ChooseCPUs turns a budget in milli-cores into CPUs:
//
//   - as many as the budget rounded up, at least two, and no more than there are;
//   - at most a tenth of the node's CPUs, rounded up, more than now; fewer at once;
//   - from LSR owners and from the shared pool in proportion to what each has, whole cores first, spread over NUMA nodes.
//
// Where nothing may be lent the present CPUs are held, because the kernel lets no group of processes be without any.
func ChooseCPUs(cpus CPUs, budget int64, current cpuset.CPUSet) CPUChoice {
	if cpus.Topology == nil {
		return CPUChoice{Hold: "the topology of the node's CPUs is not known"}
	}
	free, kept := cpus.available()
	trace := CPUTrace{
		Wanted: wholeCPUs(budget), Least: LeastCPUs, Current: current.Intersection(free).Len(),
		Step: (cpus.Topology.CPUs.Len()*growthPercent + 99) / 100, Excluded: kept,
	}
	if free.IsEmpty() {
		return CPUChoice{Hold: "every CPU belongs to somebody who lends none", Trace: trace}
	}
	trace.limit(free.Len())
	lent := cpus.LSR.Intersection(free)
	chosen := cpuset.CPUSet{}
	for _, share := range shares(trace.Count, lent, free.Difference(lent)) {
		taken, whole := pick(cpus.Topology, share.cpus, share.count)
		chosen = chosen.Union(taken)
		trace.Pools = append(trace.Pools, PoolShare{
			Pool: share.pool, Available: share.cpus.Len(), Taken: taken.Len(), List: taken.String(), WholeCores: whole,
		})
	}
	return CPUChoice{CPUs: chosen, List: chosen.String(), Trace: trace}
}

// wholeCPUs rounds up. The number of CPUs that exist bounds it later.
func wholeCPUs(milli int64) int { return int(max(milli, 0)/1000 + min(max(milli, 0)%1000, 1)) }

// AllCPUs are those that best-effort pods may run on while nobody holds them back: all that are not excluded.
func AllCPUs(cpus CPUs) CPUChoice {
	if cpus.Topology == nil {
		return CPUChoice{Hold: "the topology of the node's CPUs is not known"}
	}
	free, kept := cpus.available()
	if free.IsEmpty() {
		return CPUChoice{Hold: "every CPU belongs to somebody who lends none", Trace: CPUTrace{Excluded: kept}}
	}
	return CPUChoice{CPUs: free, List: free.String(), Trace: CPUTrace{Count: free.Len(), Limit: LimitAvailable, Excluded: kept}}
}
