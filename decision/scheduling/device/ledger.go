package device

import (
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Held is what one pod of a node holds.
type Held struct {
	Pod        *corev1.Pod
	Allocation Allocation
}

// Ledger is what the pods of a node leave of its devices. It is read-only, and safe for concurrent use.
type Ledger struct {
	node *Node
	// used and free are by position; a device that is not healthy has nothing free.
	used, free [kinds][]Amount
	// idle devices are healthy and allocated to no pod, busy ones are allocated.
	idle, busy [kinds]set
	// functions in use, by position and bus id.
	functions [kinds][]map[string]bool
	// ownDevices are the devices, and ownSwitches the PCIe switches, of pods with an exclusive policy.
	ownDevices  [kinds]set
	ownSwitches [kinds]set
	holders     [kinds][][]string
	orphans     []Orphan
	labels      labelFacts
	// table of GPU partitions in force, nil when there is none.
	table *partitionTable
	// vacant makes the ledger of the same node without pods.
	vacant func() *Ledger
}

// labelFacts are what the labels of a node, or else of its Device, say.
type labelFacts struct {
	vendor, model, isolation string
	// honor is true when only listed GPU partitions may be allocated.
	honor bool
}

// Orphan is an allocation on a device that is gone, replaced or not healthy. What it holds stays held.
type Orphan struct {
	// Pod as NAMESPACE/NAME.
	Pod    string                        `json:"pod"`
	Type   schedulingv1alpha1.DeviceType `json:"type"`
	Minor  int32                         `json:"minor"`
	Reason string                        `json:"reason"`
}

// NewLedger folds what the pods of a node hold over what the node offers. Labels are the node's.
func NewLedger(node *Node, labels map[string]string, held []Held) *Ledger {
	l := &Ledger{node: node, labels: factsOf(node, labels)}
	l.table = node.table
	if l.table == nil && slices.Contains(hopperModels, l.labels.model) {
		l.table = node.hopper
	}
	for k := range kinds {
		size := len(node.devices[k])
		l.used[k], l.free[k], l.holders[k] = make([]Amount, size), make([]Amount, size), make([][]string, size)
		l.idle[k], l.busy[k], l.ownDevices[k] = newSet(size), newSet(size), newSet(size)
		l.ownSwitches[k] = newSet(len(node.switches))
		l.functions[k] = make([]map[string]bool, size)
	}
	for i := range held {
		l.hold(&held[i])
	}
	l.settle()
	l.vacant = sync.OnceValue(func() *Ledger { return NewLedger(node, labels, nil) })
	return l
}

// Vacant is the ledger of the same node without pods.
func (l *Ledger) Vacant() *Ledger { return l.vacant() }

func factsOf(node *Node, labels map[string]string) labelFacts {
	label := func(key string) string {
		if value := labels[key]; value != "" {
			return value
		}
		return node.labels[key]
	}
	policy := map[string]string{extension.LabelGPUPartitionPolicy: label(extension.LabelGPUPartitionPolicy)}
	return labelFacts{
		vendor: label(extension.LabelGPUVendor), model: label(extension.LabelGPUModel), isolation: labels[extension.LabelGPUIsolationProvider],
		honor: extension.GPUPartitionPolicyOf(policy) == extension.GPUPartitionPolicyHonor,
	}
}

func (l *Ledger) hold(held *Held) {
	name := held.Pod.Namespace + "/" + held.Pod.Name
	for i := range held.Allocation.Items {
		item := &held.Allocation.Items[i]
		k := item.kind
		position, replaced := l.node.find(k, item.Minor, item.ID)
		if position < 0 {
			l.orphan(name, item, "the node no longer has the device")
			continue
		}
		device := &l.node.devices[k][position]
		switch {
		case replaced:
			l.orphan(name, item, fmt.Sprintf("the minor belongs to device %q now", device.uuid))
		case !device.healthy:
			l.orphan(name, item, "the device is not healthy")
		}
		amount := item.Amount.completed(&device.total)
		l.used[k][position].add(&amount)
		l.busy[k].add(position)
		l.holders[k][position] = append(l.holders[k][position], name)
		l.holdExclusively(k, position, device, held.Allocation.exclusive[k])
		for _, vf := range item.Functions {
			if l.functions[k][position] == nil {
				l.functions[k][position] = map[string]bool{}
			}
			l.functions[k][position][vf.BusID] = true
		}
	}
}

func (l *Ledger) holdExclusively(k kind, position int, device *physical, policy exclusivity) {
	switch {
	case policy == ownDevice:
		l.ownDevices[k].add(position)
	case policy == ownPCIe && device.pcie >= 0:
		l.ownSwitches[k].add(device.pcie)
	}
}

func (l *Ledger) orphan(pod string, item *Item, reason string) {
	l.orphans = append(l.orphans, Orphan{Pod: pod, Type: typeNames[item.kind], Minor: item.Minor, Reason: reason})
}

func (l *Ledger) settle() {
	for k := range kinds {
		for i := range l.node.devices[k] {
			device := &l.node.devices[k][i]
			if !device.healthy {
				continue
			}
			l.free[k][i] = device.total.less(&l.used[k][i])
			if !l.busy[k].has(i) {
				l.idle[k].add(i)
			}
		}
	}
}

// Node of the ledger.
func (l *Ledger) Node() *Node { return l.node }

// Orphans are the allocations on devices that are gone, replaced or not healthy.
func (l *Ledger) Orphans() []Orphan { return l.orphans }
