package device

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// nowhere is the NUMA node of a device whose place is not known, as the kernel writes it.
const nowhere int32 = -1

// Node is what the Device object of a node offers. It is read-only, and safe for concurrent use.
type Node struct {
	name string
	// devices of each type, by minor.
	devices [kinds][]physical
	// scopes of each type; nil when the place of some device is not reported.
	scopes [kinds][]scope
	// switches are the PCIe switches of the node, in order of NUMA node and id.
	switches []pcieSwitch
	// table of GPU partitions that the Device object carries, nil when it carries none.
	table *partitionTable
	// tableText is what table was read from.
	tableText string
	// hopper is the built-in table of 8-GPU machines of the Hopper generation.
	hopper *partitionTable
	labels map[string]string
	// problems found in the object; what they concern is left out.
	problems []string
}

// physical is one device.
type physical struct {
	minor   int32
	uuid    string
	labels  labels.Set
	healthy bool
	// total is what the device offers; when the device is not healthy, it offers nothing all the same.
	total Amount
	// placed is true when the topology is reported.
	placed bool
	numa   int32
	// pcie is the position of the switch, -1 when the topology is not reported.
	pcie int
	// functions are the virtual functions, by bus id.
	functions []function
}

type function struct {
	minor  int32
	busID  string
	labels labels.Set
}

type pcieSwitch struct {
	id   string
	numa int32
}

// DecodeNode reads a Device object. Nothing in it is an error: devices that cannot be distinguished and partitions that
// make no sense are left out, and Problems says so.
func DecodeNode(object *schedulingv1alpha1.Device) *Node {
	node := &Node{name: object.Name, labels: object.Labels}
	node.findSwitches(object)
	for i := range object.Spec.Devices {
		node.addDevice(&object.Spec.Devices[i])
	}
	for k := range kinds {
		slices.SortStableFunc(node.devices[k], func(a, b physical) int { return cmp.Compare(a.minor, b.minor) })
		node.devices[k] = slices.CompactFunc(node.devices[k], func(a, b physical) bool {
			if a.minor == b.minor {
				node.problems = append(node.problems, fmt.Sprintf("two %s devices have minor %d, the second is left out", k, b.minor))
			}
			return a.minor == b.minor
		})
		node.scopes[k] = scopesOf(node.devices[k])
	}
	node.readTable(object.Annotations)
	node.hopper = hopperTable(node.devices[gpu])
	return node
}

func (n *Node) findSwitches(object *schedulingv1alpha1.Device) {
	for i := range object.Spec.Devices {
		if topology := object.Spec.Devices[i].Topology; topology != nil {
			n.switches = append(n.switches, pcieSwitch{id: topology.PCIEID, numa: topology.NodeID})
		}
	}
	slices.SortFunc(n.switches, func(a, b pcieSwitch) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(b.numa, a.numa)) })
	n.switches = slices.CompactFunc(n.switches, func(a, b pcieSwitch) bool { return a.id == b.id })
	slices.SortFunc(n.switches, func(a, b pcieSwitch) int { return cmp.Or(cmp.Compare(a.numa, b.numa), cmp.Compare(a.id, b.id)) })
}

func (n *Node) addDevice(info *schedulingv1alpha1.DeviceInfo) {
	k, known := kindOf(info.Type)
	if !known {
		return
	}
	device := physical{uuid: info.UUID, labels: info.Labels, healthy: info.Health, total: amountOf(info.Resources), numa: nowhere, pcie: -1}
	if info.Minor != nil {
		device.minor = *info.Minor
	}
	if device.minor < 0 {
		n.problems = append(n.problems, fmt.Sprintf("a %s device has minor %d and is left out", k, device.minor))
		return
	}
	if topology := info.Topology; topology != nil {
		device.placed, device.numa = true, topology.NodeID
		device.pcie = slices.IndexFunc(n.switches, func(s pcieSwitch) bool { return s.id == topology.PCIEID })
	}
	for _, group := range info.VFGroups {
		for _, vf := range group.VFs {
			device.functions = append(device.functions, function{minor: vf.Minor, busID: vf.BusID, labels: group.Labels})
		}
	}
	slices.SortStableFunc(device.functions, func(a, b function) int { return cmp.Compare(a.busID, b.busID) })
	device.functions = slices.CompactFunc(device.functions, func(a, b function) bool { return a.busID == b.busID })
	n.devices[k] = append(n.devices[k], device)
}

func (n *Node) readTable(annotations map[string]string) {
	n.tableText = annotations[extension.AnnotationGPUPartitions]
	table, err := extension.GetGPUPartitionTable(annotations)
	if err != nil {
		n.problems = append(n.problems, err.Error())
		return
	}
	if table != nil {
		n.table = newPartitionTable(table, n.devices[gpu], &n.problems)
	}
}

// Name of the node.
func (n *Node) Name() string { return n.name }

// Problems found in the Device object, none when all of it is in use.
func (n *Node) Problems() []string { return n.problems }

// position of the device with a minor, -1 when there is none.
func (n *Node) position(k kind, minor int32) int {
	i, found := slices.BinarySearchFunc(n.devices[k], minor, func(d physical, minor int32) int { return cmp.Compare(d.minor, minor) })
	if !found {
		return -1
	}
	return i
}

// find returns the device that an allocation is of: the one with its id, or else with its minor. It is -1 for one that
// the node does not have; replaced is true when the minor now belongs to a device with another id.
func (n *Node) find(k kind, minor int32, id string) (position int, replaced bool) {
	position = n.position(k, minor)
	if id == "" || position >= 0 && n.devices[k][position].uuid == id {
		return position, false
	}
	if i := slices.IndexFunc(n.devices[k], func(d physical) bool { return d.uuid == id }); i >= 0 {
		return i, false
	}
	return position, position >= 0 && n.devices[k][position].uuid != ""
}
