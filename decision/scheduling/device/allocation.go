package device

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// Allocation is what one pod holds of the devices of its node.
type Allocation struct {
	Items []Item
	// exclusive are the exclusive policies of the pod, by type.
	exclusive [kinds]exclusivity
}

// Item is one device, or a share of it.
type Item struct {
	kind  kind
	Minor int32
	// ID of the device, empty when the device has none.
	ID     string
	Amount Amount
	// Functions are the virtual functions allocated.
	Functions []extension.VirtualFunction
	// Template is the shared-resource template by which the device is cut.
	Template string
}

// exclusivity says what pods of the same policy do not share.
type exclusivity uint8

const (
	sharing exclusivity = iota
	ownDevice
	ownPCIe
)

func exclusivityOf(policy extension.DeviceExclusivePolicy) (exclusivity, bool) {
	switch policy {
	case "":
		return sharing, true
	case extension.DeviceExclusivePolicyDevice:
		return ownDevice, true
	case extension.DeviceExclusivePolicyPCIe:
		return ownPCIe, true
	}
	return sharing, false
}

// ReadAllocation returns what a pod holds by its own annotation; false when it holds nothing that can be read. Negative
// amounts count zero, and devices of types that cannot be requested are left out.
func ReadAllocation(pod *corev1.Pod) (Allocation, bool) {
	if pod.Annotations[extension.AnnotationDeviceAllocated] == "" {
		return Allocation{}, false
	}
	written, err := extension.GetDeviceAllocations(pod.Annotations)
	if err != nil {
		return Allocation{}, false
	}
	allocation := Allocation{}
	for k, name := range typeNames {
		for _, device := range written[name] {
			if device == nil || device.Minor < 0 {
				continue
			}
			item := Item{kind: kind(k), Minor: device.Minor, ID: device.ID, Amount: amountOf(device.Resources)}
			if device.Extension != nil {
				item.Functions, item.Template = device.Extension.VirtualFunctions, device.Extension.GPUSharedResourceTemplate
			}
			allocation.Items = append(allocation.Items, item)
		}
	}
	if hints, err := extension.GetDeviceAllocateHints(pod.Annotations); err == nil {
		for name, hint := range hints {
			if k, known := kindOf(name); known && hint != nil {
				allocation.exclusive[k], _ = exclusivityOf(hint.ExclusivePolicy)
			}
		}
	}
	return allocation, len(allocation.Items) > 0
}

// Annotation is the allocation as it is written on the pod.
func (a *Allocation) Annotation() extension.DeviceAllocations {
	written := extension.DeviceAllocations{}
	for i := range a.Items {
		item := &a.Items[i]
		device := &extension.DeviceAllocation{Minor: item.Minor, ID: item.ID, Resources: item.Amount.list()}
		if len(item.Functions) > 0 || item.Template != "" {
			device.Extension = &extension.DeviceAllocationExtension{VirtualFunctions: item.Functions, GPUSharedResourceTemplate: item.Template}
		}
		name := typeNames[item.kind]
		written[name] = append(written[name], device)
	}
	return written
}

// GPUMinors lists the minors of the GPUs, as device plugins read them: "0,1". It is empty when there are none.
func (a *Allocation) GPUMinors() string { return a.minors(gpu, "") }

// minors of a type, each behind a prefix.
func (a *Allocation) minors(k kind, prefix string) string {
	var minors []string
	for i := range a.Items {
		if a.Items[i].kind == k {
			minors = append(minors, prefix+strconv.Itoa(int(a.Items[i].Minor)))
		}
	}
	return strings.Join(minors, ",")
}

func (a *Allocation) sort() {
	slices.SortFunc(a.Items, func(x, y Item) int { return cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.Minor, y.Minor)) })
}
