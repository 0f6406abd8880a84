package numa

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/cpuset"
)

// Allocate gives the pod CPUs and shares of zones, on the zones of the hint that Filter returned. It gives the same for
// the same arguments, and something whenever Filter passes. A nil trace records nothing.
func Allocate(in Input, hint Hint, trace *Trace) (Allocation, Verdict) {
	t, verdict := agree(in.Request, in.Ledger.Node)
	if !verdict.Passed() {
		return Allocation{}, verdict
	}
	aligned := t.align != extension.NUMATopologyPolicyNone
	if aligned {
		if verdict := in.holds(t, hint, trace); !verdict.Passed() {
			return Allocation{}, verdict
		}
	}
	var allocation Allocation
	if t.bind {
		cpus, verdict := in.takeCPUs(t, hint, aligned, trace)
		if !verdict.Passed() {
			return Allocation{}, verdict
		}
		allocation = Allocation{CPUs: cpus, Policy: t.policy, Exclusive: in.Request.Exclusive}
	}
	if aligned {
		allocation.Shares, verdict = in.takeShares(t, hint, allocation.CPUs)
	}
	return allocation, verdict
}

// takeCPUs chooses CPUs: on the zones of the hint if they have enough, else on all that may be used, those of the hint
// first.
func (in *Input) takeCPUs(t terms, hint Hint, aligned bool, trace *Trace) (cpuset.CPUSet, Verdict) {
	var mask Mask
	preferred := in.Preferred
	if aligned {
		mask = hint.Mask
		if reach := in.reach(t, hint); reach != mask && !in.fits(t, mask, trace).Passed() {
			preferred = preferred.Union(in.Ledger.Node.cpusOf(mask))
			mask = reach
		}
	}
	supply := cpuset.Supply{
		Topology: in.Ledger.Node.CPUs, Free: in.Ledger.bindable(mask, t, in.Preferred), Preferred: preferred,
		CoreExclusive: in.Ledger.coreExclusive, NodeExclusive: in.Ledger.nodeExclusive,
	}
	cpus, short := cpuset.Take(supply, cpuset.Request{
		Count: t.count, Policy: t.policy, Required: t.required, Exclusive: in.Request.Exclusive, Strategy: in.Args.strategyOf(in.Ledger.Node),
	}, trace.cpus())
	return cpus, shortage(short, t.policy)
}

// takeShares divides every resource over zones: the cpu of a bound pod as its CPUs lie, everything else by the node's
// strategy.
func (in *Input) takeShares(t terms, hint Hint, cpus cpuset.CPUSet) ([]Share, Verdict) {
	shares := map[int]Amounts{}
	give := func(zone int, name corev1.ResourceName, amount int64) {
		if amount > 0 {
			if shares[zone] == nil {
				shares[zone] = Amounts{}
			}
			shares[zone][name] += amount
		}
	}
	for _, name := range in.alignable() {
		if t.bind && name == corev1.ResourceCPU {
			for i := range in.Ledger.Zones {
				id := in.Ledger.Zones[i].ID
				give(id, name, int64(cpus.Intersection(in.Ledger.Node.CPUs.Node(id)).Len())*1000)
			}
			continue
		}
		left := in.Request.Amounts[name]
		for _, mask := range []Mask{hint.Mask, in.reach(t, hint) &^ hint.Mask} {
			for zone, amount := range in.divide(mask, name, left) {
				give(zone, name, amount)
				left -= amount
			}
		}
		if left > 0 {
			return nil, Verdict{Code: finding.NUMAZonesInsufficient}
		}
	}
	list := make([]Share, 0, len(shares))
	for zone, amounts := range shares {
		list = append(list, Share{Zone: zone, Amounts: amounts})
	}
	slices.SortFunc(list, func(a, b Share) int { return cmp.Compare(a.Zone, b.Zone) })
	return list, Verdict{}
}

// divide takes as much of an amount as zones have. MostAllocated empties the zones with the least left first,
// LeastAllocated those with the most; DistributeEvenly takes alike from all, and from those with more what others lack.
func (in *Input) divide(mask Mask, name corev1.ResourceName, amount int64) map[int]int64 {
	type room struct {
		zone int
		free int64
	}
	var rooms []room
	for zone := range mask.Zones() {
		if i := in.Ledger.Node.zone(zone); i >= 0 {
			rooms = append(rooms, room{zone, in.Ledger.Zones[i].Free[name]})
		}
	}
	strategy := in.Args.strategyOf(in.Ledger.Node)
	slices.SortStableFunc(rooms, func(a, b room) int {
		if strategy == extension.NUMALeastAllocated {
			return cmp.Compare(b.free, a.free)
		}
		return cmp.Compare(a.free, b.free)
	})
	shares := make(map[int]int64, len(rooms))
	for i, r := range rooms {
		wanted := amount
		if strategy == extension.NUMADistributeEvenly {
			wanted = amount / int64(len(rooms)-i)
		}
		shares[r.zone] = min(wanted, r.free)
		amount -= shares[r.zone]
	}
	return shares
}
