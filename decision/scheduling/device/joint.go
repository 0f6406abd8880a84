package device

import (
	"cmp"
	"slices"
)

// maxJointSteps bounds the sets of PCIe switches that are looked at for one place. A machine has fewer sets than that up
// to 14 switches; beyond, a set that takes longer to find counts as not there.
const maxJointSteps = 1 << 14

// placeJointly chooses devices of several types close to each other. The leading type is placed first, where each PCIe
// switch that it uses has a device of every other type; the others then take one device for each such switch, and as many
// more there as they ask for. When there is no such place, and SamePCIe is not demanded, the leading type goes where it
// would go by itself, and the others as near as there is.
func (s *search) placeJointly() *Refusal {
	joint := s.in.Request.joint
	lead := s.in.Request.leader()
	for _, k := range joint {
		if k != lead.kind {
			if refusal := s.findPlaces(s.in.Request.demand(k)); refusal != nil {
				return refusal
			}
		}
		s.countBySwitch(k)
	}
	if refusal := s.findPlaces(lead); refusal != nil {
		return refusal
	}
	for i := range s.places {
		if s.cover(lead, &s.places[i]) {
			if s.prefer {
				s.takeJointly(lead, &s.places[i])
			}
			return nil
		}
	}
	if s.in.Request.samePCIe {
		return &refusals.joint
	}
	if s.prefer {
		s.takeNearby(lead)
	}
	return nil
}

// leader is the demand that is placed first: the GPUs, which have most rules, or else the type that is named first.
func (r *Request) leader() *Demand {
	if slices.Contains(r.joint, gpu) {
		return r.demand(gpu)
	}
	return r.demand(r.joint[0])
}

func (s *search) countBySwitch(k kind) {
	s.bySwitch[k] = append(s.bySwitch[k][:0], make([]int, len(s.node.switches))...)
	for i := s.eligible[k].next(0); i >= 0; i = s.eligible[k].next(i + 1) {
		if pcie := s.node.devices[k][i].pcie; pcie >= 0 {
			s.bySwitch[k][pcie]++
		}
	}
}

// jointSwitches is the search for a set of PCIe switches.
type jointSwitches struct {
	// lead counts the devices of the leading type, in the place at hand, by switch.
	lead []int
	// usable switches, those with most of the leading type first.
	usable []int
	// current and best sets, with the keys of the best: NUMA nodes, then devices to spare.
	current, best []int
	bestKeys      [2]int
	steps         int
}

// cover finds the switches over which the joint types can be spread: as few as possible, then on as few NUMA nodes as
// possible, then with as few devices to spare as possible.
func (s *search) cover(lead *Demand, at *place) bool {
	j := &s.switches
	j.lead = append(j.lead[:0], make([]int, len(s.node.switches))...)
	j.usable, j.best, j.steps = j.usable[:0], j.best[:0], 0
	for i := at.members.next(0); i >= 0; i = at.members.next(i + 1) {
		if !s.eligible[lead.kind].has(i) {
			continue
		}
		if pcie := s.node.devices[lead.kind][i].pcie; pcie >= 0 {
			j.lead[pcie]++
		} else if at.exact {
			return false
		}
	}
	for pcie, count := range j.lead {
		if count > 0 && s.othersOn(pcie) {
			j.usable = append(j.usable, pcie)
		} else if count > 0 && at.exact {
			return false
		}
	}
	if at.exact {
		j.best = append(j.best, j.usable...)
		return s.enoughOthers(j.best)
	}
	slices.SortStableFunc(j.usable, func(a, b int) int { return cmp.Compare(j.lead[b], j.lead[a]) })
	for size := 1; size <= min(len(j.usable), s.count[lead.kind]) && len(j.best) == 0; size++ {
		j.current = j.current[:0]
		s.extend(0, size, s.count[lead.kind])
	}
	return len(j.best) > 0
}

func (s *search) othersOn(pcie int) bool {
	for _, k := range s.in.Request.joint {
		if s.bySwitch[k][pcie] == 0 {
			return false
		}
	}
	return true
}

// extend tries all sets of size more switches, from the usable ones at first on, with at least need more devices of the
// leading type.
func (s *search) extend(first, size, need int) {
	j := &s.switches
	if size == 0 {
		if need <= 0 && s.enoughOthers(j.current) {
			s.keepBest(-need)
		}
		return
	}
	for i := first; i+size <= len(j.usable); i++ {
		if j.steps++; j.steps > maxJointSteps || len(j.best) > 0 && !s.prefer {
			return
		}
		most := 0
		for _, pcie := range j.usable[i : i+size] {
			most += j.lead[pcie]
		}
		if most < need {
			return // the others have no more
		}
		j.current = append(j.current, j.usable[i])
		s.extend(i+1, size-1, need-j.lead[j.usable[i]])
		j.current = j.current[:len(j.current)-1]
	}
}

func (s *search) keepBest(spare int) {
	j := &s.switches
	keys := [2]int{s.zonesOf(j.current), spare}
	if len(j.best) == 0 || slices.Compare(keys[:], j.bestKeys[:]) < 0 {
		j.best, j.bestKeys = append(j.best[:0], j.current...), keys
	}
}

func (s *search) zonesOf(switches []int) int {
	zones := 0
	for i, pcie := range switches {
		if !slices.ContainsFunc(switches[:i], func(other int) bool { return s.node.switches[other].numa == s.node.switches[pcie].numa }) {
			zones++
		}
	}
	return zones
}

// enoughOthers is true when the switches have the devices of the other types, within the scopes that those require.
func (s *search) enoughOthers(switches []int) bool {
	lead := s.in.Request.leader().kind
	for _, k := range s.in.Request.joint {
		if k == lead {
			continue
		}
		d, sum := s.in.Request.demand(k), 0
		for _, pcie := range switches {
			sum += s.bySwitch[k][pcie]
		}
		if sum < max(s.count[k], len(switches)) {
			return false
		}
		if (d.scope == oneDevice || d.scope == onePCIe) && len(switches) > 1 || d.scope == oneNUMANode && s.zonesOf(switches) > 1 {
			return false
		}
	}
	return true
}

// takeJointly chooses devices on the switches that cover found.
func (s *search) takeJointly(lead *Demand, at *place) {
	if at.exact {
		copy(s.chosen[lead.kind], at.members)
	} else {
		s.spread(lead, s.count[lead.kind], func(i int) bool { return at.members.has(i) })
	}
	for _, k := range s.in.Request.joint {
		if k != lead.kind {
			s.spread(s.in.Request.demand(k), max(s.count[k], len(s.switches.best)), func(int) bool { return true })
		}
	}
}

// spread chooses one device on each of the best switches, and the rest on any of them. It returns how many it found.
func (s *search) spread(d *Demand, count int, wanted func(int) bool) int {
	devices, taken := s.node.devices[d.kind], 0
	for _, pcie := range s.switches.best {
		taken += s.chooseBest(d, 1, func(i int) bool { return devices[i].pcie == pcie && wanted(i) })
	}
	return taken + s.chooseBest(d, count-taken, func(i int) bool { return slices.Contains(s.switches.best, devices[i].pcie) && wanted(i) })
}

// takeNearby places the leading type by itself, and the others on its switches, or else on its NUMA nodes, or else
// anywhere. Where they can, they take one device for each switch that the leading type uses.
func (s *search) takeNearby(lead *Demand) {
	s.choose(lead, &s.places[0])
	j := &s.switches
	j.best = j.best[:0]
	for i := s.chosen[lead.kind].next(0); i >= 0; i = s.chosen[lead.kind].next(i + 1) {
		if pcie := s.node.devices[lead.kind][i].pcie; pcie >= 0 && !slices.Contains(j.best, pcie) {
			j.best = append(j.best, pcie)
		}
	}
	for _, k := range s.in.Request.joint {
		d := s.in.Request.demand(k)
		switch {
		case k == lead.kind:
		case d.scope != anywhere:
			if s.findPlaces(d) == nil {
				s.choose(d, &s.places[0])
			}
		default:
			taken := s.spread(d, s.count[k], func(int) bool { return true })
			taken += s.chooseBest(d, s.count[k]-taken, func(i int) bool { return s.nearLead(lead.kind, s.node.devices[k][i].numa) })
			s.chooseBest(d, s.count[k]-taken, func(int) bool { return true })
		}
	}
}

func (s *search) nearLead(lead kind, zone int32) bool {
	for i := s.chosen[lead].next(0); i >= 0; i = s.chosen[lead].next(i + 1) {
		if s.node.devices[lead][i].numa == zone {
			return true
		}
	}
	return false
}
