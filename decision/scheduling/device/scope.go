package device

import (
	"cmp"
	"slices"

	"koordinator.sh/koord/api/extension"
)

// level orders topology scopes, narrowest first. Zero demands nothing.
type level uint8

const (
	anywhere level = iota
	oneDevice
	onePCIe
	oneNUMANode
	wholeNode
)

// levelOf reads a required scope; false for one that is not known.
func levelOf(name extension.DeviceTopologyScope) (level, bool) {
	switch name {
	case "":
		return anywhere, true
	case extension.DeviceTopologyScopeDevice:
		return oneDevice, true
	case extension.DeviceTopologyScopePCIe:
		return onePCIe, true
	case extension.DeviceTopologyScopeNUMANode:
		return oneNUMANode, true
	case extension.DeviceTopologyScopeNode:
		return wholeNode, true
	}
	return anywhere, false
}

// scope is a part of the node's topology with the devices of one type in it.
type scope struct {
	level   level
	numa    int32
	pcie    int
	members set
}

// scopesOf builds the tree of one type, as a list: PCIe switches, NUMA nodes, the node. It is nil when some device's
// place is not reported, since nothing can then be said of closeness.
func scopesOf(devices []physical) []scope {
	if len(devices) == 0 || slices.ContainsFunc(devices, func(d physical) bool { return !d.placed }) {
		return nil
	}
	var scopes []scope
	member := func(l level, numa int32, pcie, position int) {
		i := slices.IndexFunc(scopes, func(s scope) bool { return s.level == l && s.numa == numa && s.pcie == pcie })
		if i < 0 {
			i = len(scopes)
			scopes = append(scopes, scope{level: l, numa: numa, pcie: pcie, members: newSet(len(devices))})
		}
		scopes[i].members.add(position)
	}
	for position := range devices {
		d := &devices[position]
		member(onePCIe, d.numa, d.pcie, position)
		member(oneNUMANode, d.numa, -1, position)
		member(wholeNode, nowhere, -1, position)
	}
	slices.SortFunc(scopes, func(a, b scope) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.numa, b.numa), cmp.Compare(a.pcie, b.pcie))
	})
	return scopes
}
