package device

import (
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Peer is a device of another type that is close to one.
type Peer struct {
	Type  schedulingv1alpha1.DeviceType
	Minor int32
	// Scope that both are in: PCIe or NUMANode.
	Scope extension.DeviceTopologyScope
}

// partners are the types that are allocated close to each other.
var partners = map[kind]kind{gpu: rdma, rdma: gpu}

// near are the devices of the partner type on the same PCIe switch, or else those on the same NUMA node, which joint allocation
// prefers in that order.
func (n *Node) near(k kind, position int) []Peer {
	other, pairs := partners[k]
	device := &n.devices[k][position]
	if !pairs || !device.placed {
		return nil
	}
	peers := n.peers(other, extension.DeviceTopologyScopePCIe, func(d *physical) bool { return d.pcie == device.pcie })
	if peers == nil && device.numa >= 0 {
		peers = n.peers(other, extension.DeviceTopologyScopeNUMANode, func(d *physical) bool { return d.numa == device.numa })
	}
	return peers
}

func (n *Node) peers(k kind, scope extension.DeviceTopologyScope, close func(*physical) bool) []Peer {
	var out []Peer
	for i := range n.devices[k] {
		if device := &n.devices[k][i]; device.placed && close(device) {
			out = append(out, Peer{Type: typeNames[k], Minor: device.minor, Scope: scope})
		}
	}
	return out
}
