package device

import (
	"cmp"
	"math/bits"
	"slices"
)

// place is a set of devices from which the demand is served: all of them when exact is set, else any of them.
type place struct {
	members set
	exact   bool
	level   level
	// The keys by which places are compared, the smaller the better.
	keys [5]int64
}

func comparePlaces(a, b place) int { return slices.Compare(a.keys[:], b.keys[:]) }

// place chooses devices for a demand by itself.
func (s *search) place(d *Demand) *Refusal {
	if refusal := s.findPlaces(d); refusal != nil {
		return refusal
	}
	if s.prefer {
		s.choose(d, &s.places[0])
	}
	return nil
}

// findPlaces lists the places that can serve a demand, best first when the search prefers, else in no order.
func (s *search) findPlaces(d *Demand) *Refusal {
	s.places = s.places[:0]
	if d.kind == gpu && !d.Shared && s.ledger.table != nil {
		s.findPartitions(d)
		if len(s.places) == 0 && (s.ledger.labels.honor || s.in.Request.partition.required) {
			return &refusals.partition
		}
	}
	listed := len(s.places)
	if listed == 0 || !s.ledger.labels.honor && !s.in.Request.partition.required {
		s.findScopes(d)
	}
	if len(s.places) == 0 {
		if s.node.scopes[d.kind] == nil {
			return &refusals.noTree
		}
		return &refusals.scope[d.kind]
	}
	if s.prefer {
		slices.SortStableFunc(s.places[:listed], comparePlaces)
		slices.SortStableFunc(s.places[listed:], comparePlaces)
	}
	return nil
}

// findPartitions lists the free partitions of the size: those with the best score first, then those that break fewest
// larger ones.
func (s *search) findPartitions(d *Demand) {
	table, rule := s.ledger.table, &s.in.Request.partition
	partitions, _ := table.of(s.count[gpu])
	for i := range partitions {
		p := &partitions[i]
		if rule.best && p.score < partitions[0].score {
			return
		}
		if !p.members.within(s.eligible[gpu]) || p.members.meets(s.ledger.busy[gpu]) || p.bandwidth < rule.bandwidth && rule.bandwidth > 0 {
			continue
		}
		if d.scope != anywhere && !s.inScope(d, p.members) {
			continue
		}
		found := place{members: p.members, exact: true}
		if s.prefer {
			found.keys[0] = -int64(p.score)
			table.broken(p, s.count[gpu], s.ledger.idle[gpu], found.keys[1:])
		}
		s.places = append(s.places, found)
	}
}

// inScope is true when the devices are in one scope that is narrow enough.
func (s *search) inScope(d *Demand, members set) bool {
	scopes := s.node.scopes[d.kind]
	return slices.ContainsFunc(scopes, func(sc scope) bool { return allowed(d, s.count[d.kind], sc.level) && members.within(sc.members) })
}

// allowed is true when devices of a scope are close enough for a demand. One device is in its own scope.
func allowed(d *Demand, count int, l level) bool {
	switch d.scope {
	case anywhere:
		return true
	case oneDevice:
		return count == 1
	}
	return l <= d.scope
}

// findScopes lists the parts of the topology with enough devices: the narrowest first; then those in use already, so that
// others stay whole; then, for a share, those with the best device; then those with fewest to spare. Devices other than
// GPUs are taken from the whole node, unless a scope is required, and so are GPUs whose place is not reported.
func (s *search) findScopes(d *Demand) {
	k := d.kind
	scopes := s.node.scopes[k]
	if d.scope == anywhere && (scopes == nil || k != gpu) {
		s.places = append(s.places, place{members: s.eligible[k], level: wholeNode})
		return
	}
	for i := range scopes {
		sc := &scopes[i]
		spare := sc.members.shared(s.eligible[k]) - s.count[k]
		if spare < 0 || !allowed(d, s.count[k], sc.level) {
			continue
		}
		found := place{members: sc.members, level: sc.level}
		if s.prefer {
			found.keys = [5]int64{int64(sc.level), -s.inUse(k, sc), 0, int64(spare)}
			if d.Shared && s.count[k] == 1 {
				found.keys[2] = -s.bestScore(d, sc.members)
			}
		}
		s.places = append(s.places, found)
	}
}

// inUse counts the scopes of which this one is a part, itself included, with a device in use.
func (s *search) inUse(k kind, inner *scope) int64 {
	used := int64(0)
	for i := range s.node.scopes[k] {
		outer := &s.node.scopes[k][i]
		if outer.level >= inner.level && inner.members.within(outer.members) && outer.members.meets(s.ledger.busy[k]) {
			used++
		}
	}
	return used
}

// choose takes devices of a place.
func (s *search) choose(d *Demand, from *place) {
	k := d.kind
	if from.exact {
		copy(s.chosen[k], from.members)
		return
	}
	if d.Shared || k != gpu || from.level <= onePCIe || s.node.scopes[k] == nil {
		s.chooseBest(d, s.count[k], func(position int) bool { return from.members.has(position) })
		return
	}
	taken := s.chooseBest(d, s.count[k], func(position int) bool { return s.preferred[k].has(position) && from.members.has(position) })
	s.chooseClose(d, from.members, from.level, s.count[k]-taken)
}

// chooseClose takes devices from as few parts of the next narrower level as possible: from the one with fewest to spare
// when one has enough, else from the largest first.
func (s *search) chooseClose(d *Demand, from set, within level, count int) {
	if within <= onePCIe {
		s.chooseBest(d, count, func(position int) bool { return from.has(position) })
		return
	}
	scopes := s.node.scopes[d.kind]
	for taken := 0; taken < count; {
		best, most := -1, 0
		for i := range scopes {
			if scopes[i].level != within-1 || !scopes[i].members.within(from) {
				continue
			}
			left := s.leftIn(d.kind, scopes[i].members)
			if left > 0 && (best < 0 || closer(left, most, count-taken)) {
				best, most = i, left
			}
		}
		if best < 0 {
			return
		}
		take := min(most, count-taken)
		s.chooseClose(d, scopes[best].members, within-1, take)
		taken += take
	}
}

// leftIn counts the eligible devices that are not chosen yet.
func (s *search) leftIn(k kind, members set) int {
	left := 0
	for i := range members {
		left += bits.OnesCount64(members[i] & s.eligible[k][i] &^ s.chosen[k][i])
	}
	return left
}

// closer is true when a part with so many devices serves better than one with most.
func closer(left, most, count int) bool {
	switch {
	case left >= count && most >= count:
		return left < most
	case left >= count || most >= count:
		return left >= count
	}
	return left > most
}

// rankedDevice is a device with its score. Preferred devices score above all others.
type rankedDevice struct {
	position int
	score    int64
}

// chooseBest takes the devices with the highest scores, and among equal ones the lowest minors, of those that are wanted.
func (s *search) chooseBest(d *Demand, count int, wanted func(position int) bool) int {
	k := d.kind
	s.ranked = s.ranked[:0]
	for i := s.eligible[k].next(0); i >= 0; i = s.eligible[k].next(i + 1) {
		if !s.chosen[k].has(i) && wanted(i) {
			score := s.scoreDevice(d, i)
			if s.preferred[k].has(i) {
				score += MaxScore + 1
			}
			s.ranked = append(s.ranked, rankedDevice{position: i, score: score})
		}
	}
	slices.SortFunc(s.ranked, func(a, b rankedDevice) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.position, b.position))
	})
	taken := min(max(count, 0), len(s.ranked))
	for _, device := range s.ranked[:taken] {
		s.chosen[k].add(device.position)
	}
	return taken
}
