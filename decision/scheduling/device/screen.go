package device

import (
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/decision/scheduling/numa"
)

// exclusion says why a device cannot serve a demand.
type exclusion uint8

const (
	eligible exclusion = iota
	unhealthy
	notSelected
	outOfZone
	// tooSmall devices, and those withoutFunction, would not do if no pod held them.
	tooSmall
	withoutFunction
	// The others would do if pods gave them back.
	heldExclusively
	tooLittleLeft
	noFunction
)

// screen finds the devices that can serve a demand each by itself, and refuses when they are too few.
func (s *search) screen(d *Demand) *Refusal {
	k := d.kind
	devices := s.node.devices[k]
	if len(devices) == 0 {
		return &refusals.missing[k]
	}
	var tally [noFunction + 1]int
	for i := range devices {
		why, lacking := s.exclude(d, i)
		tally[why]++
		if why == eligible {
			s.eligible[k].add(i)
		}
		if s.trace != nil {
			s.trace.device(s.ledger, d, i, why, lacking)
		}
	}
	need := d.Count
	if d.All {
		need = len(devices) - tally[unhealthy] - tally[notSelected] - tally[outOfZone]
	}
	s.count[k] = need
	s.trace.needs(need)
	return s.judge(k, need, &tally)
}

func (s *search) judge(k kind, need int, tally *[noFunction + 1]int) *Refusal {
	possible := tally[eligible] + tally[heldExclusively] + tally[tooLittleLeft] + tally[noFunction]
	switch {
	case need > 0 && tally[eligible] >= need:
		return nil
	case s.in.Zones != 0 && possible < need && possible+tally[outOfZone] >= need:
		return &refusals.numaZones
	case possible < need && possible+tally[withoutFunction] >= need:
		return &refusals.missingFunctions[k]
	case need == 0 || possible < need:
		return &refusals.missing[k]
	case tally[eligible]+tally[noFunction] >= need:
		return &refusals.functions[k]
	}
	return &refusals.insufficient[k]
}

// exclude says why a device cannot serve a demand, and what it lacks where it lacks something.
func (s *search) exclude(d *Demand, position int) (exclusion, dimension) {
	device := &s.node.devices[d.kind][position]
	switch {
	case !device.healthy:
		return unhealthy, 0
	case d.selector != nil && !d.selector.Matches(device.labels):
		return notSelected, 0
	case s.in.Zones != 0 && !inZones(device, s.in.Zones):
		return outOfZone, 0
	case s.onlyPreferred && s.preferred[d.kind].next(0) >= 0 && !s.preferred[d.kind].has(position):
		return notSelected, 0
	}
	each := d.Each
	if d.kind == gpu {
		each = d.Each.completed(&device.total)
	}
	if lacking, lacks := each.lack(&device.total, d.kind); lacks {
		return tooSmall, lacking
	}
	if d.vfSelector != nil && !device.offersFunction(d.vfSelector) {
		return withoutFunction, 0
	}
	if lacking, lacks := each.lack(&s.ledger.free[d.kind][position], d.kind); lacks {
		return tooLittleLeft, lacking
	}
	switch {
	case s.ledger.ownedByOthers(d, position):
		return heldExclusively, 0
	case d.vfSelector != nil && s.ledger.freeFunction(d, position) == nil:
		return noFunction, 0
	}
	return eligible, 0
}

func inZones(device *physical, zones numa.Mask) bool {
	return device.placed && (device.numa < 0 || zones.Has(int(device.numa)))
}

func (p *physical) offersFunction(selector labels.Selector) bool {
	for i := range p.functions {
		if selector.Matches(p.functions[i].labels) {
			return true
		}
	}
	return false
}

// ownedByOthers is true when a pod of the same exclusive policy holds the device, or its PCIe switch.
func (l *Ledger) ownedByOthers(d *Demand, position int) bool {
	switch d.exclusive {
	case ownDevice:
		return l.ownDevices[d.kind].has(position)
	case ownPCIe:
		pcie := l.node.devices[d.kind][position].pcie
		return pcie >= 0 && l.ownSwitches[d.kind].has(pcie)
	}
	return false
}

// freeFunction is the free virtual function with the lowest bus id that the demand selects, nil when there is none.
func (l *Ledger) freeFunction(d *Demand, position int) *function {
	functions := l.node.devices[d.kind][position].functions
	for i := range functions {
		if !l.functions[d.kind][position][functions[i].busID] && d.vfSelector.Matches(functions[i].labels) {
			return &functions[i]
		}
	}
	return nil
}
