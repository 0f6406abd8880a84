package device

import (
	"koordinator.sh/koord/decision/scheduling/numa"
)

const (
	// favouriteScore is the score of the zones from which devices would be taken if any zones would do. It outweighs what
	// CPUs and memory score together.
	favouriteScore = 500
	// maxHintZones bounds the zones of which every set is tried. Nodes with more get hints of single zones and of all.
	maxHintZones = 8
)

// Hints says from which sets of zones the node could serve the request, by device type. Types are placed together, so
// that each has the same hints. It is nil when the node reports no zones of its devices, which then do not care; it has an
// empty list for each type when no set will do.
func Hints(in Input, zones numa.Mask) map[string][]numa.Hint {
	if zones == 0 || !in.placed() {
		return nil
	}
	favourite, _ := Allocate(in, nil)
	hints := []numa.Hint{}
	least := numa.MaxZones
	for _, mask := range subsets(zones) {
		in.Zones = mask
		possible := in
		possible.Ledger = in.Ledger.Vacant()
		if mask.Count() < least && Fits(possible, nil) == nil {
			least = mask.Count()
		}
		if allocation, refusal := Allocate(in, nil); refusal == nil {
			hint := numa.Hint{Mask: mask}
			if sameMinors(&allocation, &favourite) {
				hint.Score = favouriteScore
			}
			hints = append(hints, hint)
		}
	}
	for i := range hints {
		hints[i].Preferred = hints[i].Mask.Count() == least
	}
	byType := map[string][]numa.Hint{}
	for i := range in.Request.Demands {
		byType[string(in.Request.Demands[i].Type)] = hints
	}
	return byType
}

// placed is true when some device of a requested type is in a zone that is known.
func (in *Input) placed() bool {
	for i := range in.Request.Demands {
		devices := in.Ledger.node.devices[in.Request.Demands[i].kind]
		for j := range devices {
			if devices[j].placed && devices[j].numa >= 0 {
				return true
			}
		}
	}
	return false
}

// subsets lists the sets of zones to try.
func subsets(zones numa.Mask) []numa.Mask {
	var list []numa.Mask
	if zones.Count() > maxHintZones {
		for zone := range zones.Zones() {
			list = append(list, numa.MaskOf(zone))
		}
		return append(list, zones)
	}
	for rest := zones; rest != 0; rest = (rest - 1) & zones {
		list = append(list, rest)
	}
	return list
}

func sameMinors(a, b *Allocation) bool {
	if len(a.Items) != len(b.Items) {
		return false
	}
	for i := range a.Items {
		if a.Items[i].kind != b.Items[i].kind || a.Items[i].Minor != b.Items[i].Minor {
			return false
		}
	}
	return true
}
