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

// CPUTrace is how a number of CPUs came about.
type CPUTrace struct {
	// Wanted by the budget: rounded up to whole CPUs.
	Wanted int `json:"wanted"`
	// Least is the floor of LeastCPUs.
	Least int `json:"least"`
	// Current is how many of the available CPUs best-effort pods have now, and Step by how many they may grow per round.
	Current int `json:"current"`
	Step    int `json:"step"`
	// Count that was chosen.
	Count int `json:"count"`
	// Limit that decided the count: budget, least, step or available.
	Limit string `json:"limit"`
	// Excluded CPUs by owner.
	Excluded []ExcludedCount `json:"excluded,omitempty"`
	// Pools the CPUs were taken from.
	Pools []PoolShare `json:"pools,omitempty"`
}

// ExcludedCount is how many CPUs one owner keeps.
type ExcludedCount struct {
	Owner string `json:"owner"`
	Count int    `json:"count"`
	List  string `json:"cpus,omitempty"`
}

// PoolShare is what one pool gives.
type PoolShare struct {
	// Pool is LSR, lent by its owners, or shared.
	Pool string `json:"pool"`
	// Available CPUs of the pool, and those taken of them.
	Available int    `json:"available"`
	Taken     int    `json:"taken"`
	List      string `json:"cpus,omitempty"`
	// WholeCores taken.
	WholeCores int `json:"wholeCores"`
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

// limit decides the count and says by what.
func (t *CPUTrace) limit(available int) {
	t.Count, t.Limit = t.Wanted, LimitBudget
	if t.Count < t.Least {
		t.Count, t.Limit = t.Least, LimitLeast
	}
	if most := max(t.Current+t.Step, t.Least); t.Count > most {
		t.Count, t.Limit = most, LimitStep
	}
	if t.Count > available {
		t.Count, t.Limit = available, LimitAvailable
	}
}

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
