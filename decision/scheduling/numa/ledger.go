package numa

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cpuset"
)

// Holder is one pod and what it holds.
type Holder struct {
	Namespace, Name string
	UID             types.UID
	Allocation
}

// Ledger is what is left of a Node when its pods hold what they hold. It is read-only and safe for concurrent use.
type Ledger struct {
	// Node it is about.
	Node *Node
	// Free CPUs: usable, and without an owner.
	Free cpuset.CPUSet
	// Owned CPUs of pods of the scheduler.
	Owned cpuset.CPUSet
	// Zones in the order of Node.Zones.
	Zones []ZoneLedger
	// Holders in the order they were given.
	Holders []Holder

	coreExclusive, nodeExclusive cpuset.CPUSet
}

// ZoneLedger is what is left of one zone.
type ZoneLedger struct {
	// ID of the zone.
	ID int
	// Free amounts, amplified; never negative.
	Free Amounts
	// Single counts pods that are aligned on this zone alone, Shared those aligned on this and others.
	Single, Shared int
	// limit is how many CPUs pods can still own here; -1 when the zone offers no cpu, and so does not limit them.
	limit int
	// count is how many CPUs are free here, within the limit.
	count cpuset.Count
}

// NewLedger folds what pods hold into what a node offers.
func NewLedger(node *Node, holders []Holder) *Ledger {
	ledger := &Ledger{Node: node, Free: node.Usable, Holders: holders, Zones: make([]ZoneLedger, len(node.Zones))}
	for i := range node.Zones {
		free := make(Amounts, len(node.Zones[i].Total))
		for name, amount := range node.Zones[i].Total {
			free[name] = amount
		}
		ledger.Zones[i] = ZoneLedger{ID: node.Zones[i].ID, Free: free}
	}
	lent := lentOf(holders)
	for i := range holders {
		ledger.add(&holders[i].Allocation, lent[holders[i].UID])
	}
	ledger.Free = node.Usable.Difference(ledger.Owned)
	for i := range ledger.Zones {
		ledger.Zones[i].limit = ledger.limitOf(&ledger.Zones[i])
		ledger.Zones[i].count = ledger.countOf(&ledger.Zones[i])
	}
	return ledger
}

// lentOf adds up, for each pod that holds a reservation, what other pods use of it: that is theirs, and must not count
// twice.
func lentOf(holders []Holder) map[types.UID]map[int]Amounts {
	var lent map[types.UID]map[int]Amounts
	for i := range holders {
		from := holders[i].Reservation
		if from == "" {
			continue
		}
		if lent == nil {
			lent = map[types.UID]map[int]Amounts{}
		}
		if lent[from] == nil {
			lent[from] = map[int]Amounts{}
		}
		for _, share := range holders[i].Shares {
			if lent[from][share.Zone] == nil {
				lent[from][share.Zone] = Amounts{}
			}
			for name, amount := range share.Amounts {
				lent[from][share.Zone][name] += amount
			}
		}
	}
	return lent
}

// add charges what one pod holds, less what it lent.
func (l *Ledger) add(held *Allocation, lent map[int]Amounts) {
	first := held.CPUs.Difference(l.Owned)
	l.Owned = l.Owned.Union(held.CPUs)
	switch held.Exclusive {
	case extension.CPUExclusivePolicyPCPULevel:
		l.coreExclusive = l.coreExclusive.Union(held.CPUs)
	case extension.CPUExclusivePolicyNUMANodeLevel:
		l.nodeExclusive = l.nodeExclusive.Union(held.CPUs)
	}
	bound := !held.CPUs.IsEmpty()
	if len(held.Shares) == 0 && bound {
		l.addUnaligned(first)
		return
	}
	single := held.mask().Count() == 1
	for _, share := range held.Shares {
		i := l.Node.zone(share.Zone)
		if i < 0 {
			continue
		}
		if single {
			l.Zones[i].Single++
		} else {
			l.Zones[i].Shared++
		}
		for name, amount := range share.Amounts {
			l.take(i, name, l.charge(name, max(amount-lent[share.Zone][name], 0), bound))
		}
	}
}

// addUnaligned charges zones for the CPUs of a pod that was not aligned, and that no pod before it owned.
func (l *Ledger) addUnaligned(cpus cpuset.CPUSet) {
	if l.Node.CPUs == nil {
		return
	}
	for i := range l.Zones {
		count := cpus.Intersection(l.Node.CPUs.Node(l.Zones[i].ID)).Len()
		l.take(i, corev1.ResourceCPU, l.charge(corev1.ResourceCPU, int64(count)*1000, true))
	}
}

// charge is what an amount counts in a zone: CPUs that one pod owns cannot be shown as more than they are, so they take
// their amplified share.
func (l *Ledger) charge(name corev1.ResourceName, amount int64, bound bool) int64 {
	if bound && name == corev1.ResourceCPU {
		return capacity.Amplify(amount, l.Node.Ratio)
	}
	return amount
}

func (l *Ledger) take(zone int, name corev1.ResourceName, amount int64) {
	if free, offered := l.Zones[zone].Free[name]; offered {
		l.Zones[zone].Free[name] = max(free-amount, 0)
	}
}

// limitOf is how many whole CPUs the free cpu of a zone is worth.
func (l *Ledger) limitOf(zone *ZoneLedger) int {
	free, offered := zone.Free[corev1.ResourceCPU]
	if !offered {
		return -1
	}
	return int(free / capacity.Amplify(1000, l.Node.Ratio))
}

func (l *Ledger) countOf(zone *ZoneLedger) cpuset.Count {
	topology := l.Node.CPUs
	if topology == nil {
		return cpuset.Count{}
	}
	count := cpuset.CountOf(topology, l.Free.Intersection(topology.Node(zone.ID)))
	if zone.limit < 0 {
		return count
	}
	return count.Limit(zone.limit, topology.CPUsPerCore())
}

// bindable returns the free CPUs of a set of zones, and in each zone no more than the zone has cpu left. Those that stay
// suit the policy best; preferred ones stay first, unless the policy is required.
func (l *Ledger) bindable(mask Mask, t terms, preferred cpuset.CPUSet) cpuset.CPUSet {
	free := l.Free
	if mask != 0 {
		free = free.Intersection(l.Node.cpusOf(mask))
	}
	if t.required {
		preferred = cpuset.CPUSet{}
	}
	for i := range l.Zones {
		zone := &l.Zones[i]
		if zone.limit < 0 {
			continue
		}
		here := free.Intersection(l.Node.CPUs.Node(zone.ID))
		if here.Len() <= zone.limit {
			continue
		}
		kept, _ := cpuset.Take(cpuset.Supply{Topology: l.Node.CPUs, Free: here, Preferred: preferred}, cpuset.Request{Count: zone.limit, Policy: t.policy}, nil)
		free = free.Difference(here).Union(kept)
	}
	return free
}
