package numa

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/scheduling/resourcescore"
)

// maxEnumerated is the number of zones up to which every set of zones is considered; of more zones, only single ones,
// pairs and all together, since the sets double with every zone.
const maxEnumerated = 10

// masksOf lists the sets of zones that may be used, ascending.
func masksOf(all Mask) []Mask {
	var masks []Mask
	if all.Count() <= maxEnumerated {
		for mask := all & -all; mask != 0; mask = (mask - all) & all { // the next larger subset of all
			masks = append(masks, mask)
		}
		return masks
	}
	for high := range all.Zones() {
		masks = append(masks, MaskOf(high))
		for low := range all.Zones() {
			if low < high {
				masks = append(masks, MaskOf(low, high))
			}
		}
	}
	return append(masks, all)
}

// alignable resources of the request are those that zones offer.
func (in *Input) alignable() []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, name := range in.Request.Amounts.names() {
		if in.Ledger.Node.has(name) {
			names = append(names, name)
		}
	}
	return names
}

// hints lists the sets of zones that can give one resource; the verdict refuses when there are none.
func (in *Input) hints(t terms, name corev1.ResourceName, trace *Trace) ([]Hint, Verdict) {
	supply := in.supplyOf(t, name)
	narrowest := MaxZones + 1
	var hints []Hint
	for _, mask := range in.Ledger.Node.masks {
		total, free := supply.sum(mask)
		if total < supply.wanted || supply.cpus && !in.couldFit(t, mask) {
			continue
		}
		narrowest = min(narrowest, mask.Count())
		if free >= supply.wanted && in.admits(mask) && (!supply.cpus || in.fits(t, mask, trace).Passed()) {
			hints = append(hints, Hint{Mask: mask, Score: in.hintScore(mask, supply.demand(total, free))})
		}
	}
	switch {
	case narrowest > MaxZones:
		return nil, Verdict{Code: finding.NUMAResourceUnsatisfied, Resource: name}
	case len(hints) == 0:
		return nil, Verdict{Code: finding.NUMAResourceInsufficient, Resource: name}
	}
	for i := range hints {
		hints[i].Preferred = hints[i].Mask.Count() == narrowest
	}
	return hints, Verdict{}
}

// wanted is what the pod takes of a resource in zones.
func (in *Input) wanted(t terms, name corev1.ResourceName) int64 {
	amount := in.Request.Amounts[name]
	if t.bind && name == corev1.ResourceCPU {
		return capacity.Amplify(amount, in.Ledger.Node.Ratio)
	}
	return amount
}

// supply is one resource in all zones, and what the pod wants of it.
type supply struct {
	wanted int64
	// cpus is true for the cpu of a bound pod, which must also be there as CPUs.
	cpus     bool
	strategy resourcescore.WeightedStrategy
	zones    []zoneSupply
}

type zoneSupply struct {
	id          int
	total, free int64
}

func (in *Input) supplyOf(t terms, name corev1.ResourceName) supply {
	scoring := in.Args.NUMAScoringStrategy
	s := supply{
		wanted: in.wanted(t, name), cpus: t.bind && name == corev1.ResourceCPU, zones: make([]zoneSupply, len(in.Ledger.Zones)),
		strategy: resourcescore.WeightedStrategy{Type: scoring.Type, Weight: scoring.weight(name)},
	}
	for i := range s.zones {
		s.zones[i] = zoneSupply{in.Ledger.Zones[i].ID, in.Ledger.Node.Zones[i].Total[name], in.Ledger.Zones[i].Free[name]}
	}
	return s
}

// sum is what a set of zones has in all, and what it has left.
func (s *supply) sum(mask Mask) (total, free int64) {
	for i := range s.zones {
		if mask.Has(s.zones[i].id) {
			total += s.zones[i].total
			free += s.zones[i].free
		}
	}
	return total, free
}

// demand is what the pod takes of zones that have so much in all and so much left.
func (s *supply) demand(total, free int64) resourcescore.Demand {
	return resourcescore.Demand{Strategy: s.strategy, Request: s.wanted, Requested: total - free, Allocatable: total}
}

// freeIn is what a set of zones has left.
func (l *Ledger) freeIn(mask Mask, name corev1.ResourceName) int64 {
	var free int64
	for i := range l.Zones {
		if mask.Has(l.Zones[i].ID) {
			free += l.Zones[i].Free[name]
		}
	}
	return free
}

// admits is false for zones that required exclusiveness keeps the pod out of: a pod on one zone does not meet pods across
// zones, and the other way round.
func (in *Input) admits(mask Mask) bool {
	return in.Request.ZoneExclusive != extension.NumaTopologyExclusiveRequired || !in.Ledger.mixes(mask)
}

// mixes is true when a pod on these zones would meet pods of the other kind.
func (l *Ledger) mixes(mask Mask) bool {
	single := mask.Count() == 1
	for i := range l.Zones {
		zone := &l.Zones[i]
		if mask.Has(zone.ID) && (single && zone.Shared > 0 || !single && zone.Single > 0) {
			return true
		}
	}
	return false
}
