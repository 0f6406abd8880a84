package device

import (
	"maps"
	"slices"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/scheduling/numa"
)

// decisiveLabels are the labels of nodes and Devices that decisions read.
var decisiveLabels = []string{
	extension.LabelGPUPartitionPolicy, extension.LabelGPUVendor, extension.LabelGPUModel, extension.LabelGPUIsolationProvider,
}

// LabelsDiffer is true when a decision may differ between two sets of node labels.
func LabelsDiffer(a, b map[string]string) bool {
	return slices.ContainsFunc(decisiveLabels, func(key string) bool { return a[key] != b[key] })
}

// Gains is true when the node may serve something of the request that it could not serve as it was before: a device is
// new, healthy again, larger or elsewhere, or partitions have changed. It is false when the node only lost something.
func (n *Node) Gains(before *Node, request *Request) bool {
	if n.tableText != before.tableText || LabelsDiffer(n.labels, before.labels) {
		return true
	}
	for i := range request.Demands {
		k := request.Demands[i].kind
		for j := range n.devices[k] {
			device := &n.devices[k][j]
			at := before.position(k, device.minor)
			if device.healthy && (at < 0 || device.gains(&before.devices[k][at])) {
				return true
			}
		}
	}
	return false
}

// gains is true when the device may serve something that it could not serve as it was before. PCIe switches are compared
// by their NUMA node and position: the switches of a node change only when its devices do.
func (p *physical) gains(before *physical) bool {
	if !before.healthy || p.uuid != before.uuid || p.placed != before.placed || p.numa != before.numa || p.pcie != before.pcie || !maps.Equal(p.labels, before.labels) {
		return true
	}
	if _, more := p.total.lack(&before.total, gpu); more {
		return true
	}
	if p.total[rdmaShare] > before.total[rdmaShare] || p.total[fpgaShare] > before.total[fpgaShare] {
		return true
	}
	return slices.ContainsFunc(p.functions, func(f function) bool {
		return !slices.ContainsFunc(before.functions, func(b function) bool { return f.busID == b.busID && maps.Equal(f.labels, b.labels) })
	})
}

// Zones are the NUMA nodes of the node's devices.
func (n *Node) Zones() numa.Mask {
	zones := numa.Mask(0)
	for k := range kinds {
		for i := range n.devices[k] {
			zones |= numa.MaskOf(int(n.devices[k][i].numa))
		}
	}
	return zones
}

// Holds is true when the allocation has a device of a type that the request is for.
func (r *Request) Holds(allocation *Allocation) bool {
	return slices.ContainsFunc(allocation.Items, func(item Item) bool { return r.demand(item.kind) != nil })
}
