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

// available are the CPUs that best-effort pods may ever use.
func (c CPUs) available(trace *Trace) cpuset.CPUSet {
	trace.beginCPUs()
	free := c.Topology.CPUs
	for _, exclusion := range c.Excluded {
		if taken := exclusion.CPUs.Intersection(c.Topology.CPUs); !taken.IsEmpty() {
			trace.excluded(exclusion.Owner, taken)
			free = free.Difference(taken)
		}
	}
	return free
}

// CPUCount is how a number of CPUs comes about.
type CPUCount struct {
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
}

// limit decides the count and says by what.
func (c *CPUCount) limit(available int) {
	c.Count, c.Limit = c.Wanted, LimitBudget
	if c.Count < c.Least {
		c.Count, c.Limit = c.Least, LimitLeast
	}
	if most := max(c.Current+c.Step, c.Least); c.Count > most {
		c.Count, c.Limit = most, LimitStep
	}
	if c.Count > available {
		c.Count, c.Limit = available, LimitAvailable
	}
}

// ChooseCPUs turns a budget in milli-cores into CPUs:
//
//   - as many as the budget rounded up, at least two, and no more than there are;
//   - at most a tenth of the node's CPUs, rounded up, more than now; fewer at once;
//   - from LSR owners and from the shared pool in proportion to what each has, whole cores first, spread over NUMA nodes.
//
// Where nothing may be lent the present CPUs are held, because the kernel lets no group of processes be without any. A nil trace
// records nothing.
func ChooseCPUs(cpus CPUs, budget int64, current cpuset.CPUSet, trace *Trace) CPUChoice {
	if cpus.Topology == nil {
		return CPUChoice{Hold: "the topology of the node's CPUs is not known"}
	}
	free := cpus.available(trace)
	number := CPUCount{
		Wanted: wholeCPUs(budget), Least: LeastCPUs, Current: current.Intersection(free).Len(),
		Step: (cpus.Topology.CPUs.Len()*growthPercent + 99) / 100,
	}
	if free.IsEmpty() {
		trace.counted(number)
		return CPUChoice{Hold: "every CPU belongs to somebody who lends none"}
	}
	number.limit(free.Len())
	trace.counted(number)
	lent := cpus.LSR.Intersection(free)
	chosen := cpuset.CPUSet{}
	for _, share := range shares(number.Count, lent, free.Difference(lent)) {
		taken, whole := pick(cpus.Topology, share.cpus, share.count)
		chosen = chosen.Union(taken)
		trace.took(share.pool, share.cpus, taken, whole)
	}
	return CPUChoice{CPUs: chosen, List: chosen.String()}
}

// wholeCPUs rounds up. The number of CPUs that exist bounds it later.
func wholeCPUs(milli int64) int { return int(max(milli, 0)/1000 + min(max(milli, 0)%1000, 1)) }

// AllCPUs are those that best-effort pods may run on while they are not suppressed: all that are not excluded. A nil trace records
// nothing.
func AllCPUs(cpus CPUs, trace *Trace) CPUChoice {
	if cpus.Topology == nil {
		return CPUChoice{Hold: "the topology of the node's CPUs is not known"}
	}
	free := cpus.available(trace)
	if free.IsEmpty() {
		return CPUChoice{Hold: "every CPU belongs to somebody who lends none"}
	}
	trace.counted(CPUCount{Count: free.Len(), Limit: LimitAvailable})
	return CPUChoice{CPUs: free, List: free.String()}
}
