package invariants

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// deviceKey is one device of a node.
type deviceKey struct {
	kind  schedulingv1alpha1.DeviceType
	minor int32
}

func (k deviceKey) String() string { return fmt.Sprintf("%s %d", k.kind, k.minor) }

// percentages are the resources of which every device has a hundred.
var percentages = []corev1.ResourceName{
	extension.ResourceGPUCore, extension.ResourceGPUMemoryRatio, extension.ResourceRDMA, extension.ResourceFPGA,
}

var hundred = resource.MustParse("100")

// devicesOf is what a pod holds by its annotation; nothing when it cannot be read.
func devicesOf(pod *corev1.Pod) extension.DeviceAllocations {
	allocations, err := extension.GetDeviceAllocations(pod.Annotations)
	if err != nil {
		return nil
	}
	return allocations
}

// DevicesOwnedOnce finds devices of which more than a hundred percent is given away, and virtual functions with two
// owners. It needs no Device object.
func (n *Node) DevicesOwnedOnce() []Violation {
	out := n.found(DeviceWithinCapacity)
	taken, functions := map[deviceKey]amounts{}, map[string][]*corev1.Pod{}
	n.eachDevice(func(pod *corev1.Pod, key deviceKey, allocation *extension.DeviceAllocation) {
		if taken[key] == nil {
			taken[key] = amounts{}
		}
		taken[key].add(allocation.Resources)
		if allocation.Extension == nil {
			return
		}
		for _, function := range allocation.Extension.VirtualFunctions {
			name := fmt.Sprintf("%s function %s", key, function.BusID)
			functions[name] = append(functions[name], pod)
		}
	})
	for key, sum := range taken {
		for _, name := range percentages {
			if sum.exceeds(name, hundred) {
				out.add("%s gives %s%% of %s", key, sum.text(name), name)
			}
		}
	}
	for name, pods := range functions {
		if len(pods) > 1 {
			out.add("%s is owned by %s", name, holders(pods))
		}
	}
	return out.sorted()
}

func (n *Node) eachDevice(yield func(*corev1.Pod, deviceKey, *extension.DeviceAllocation)) {
	for _, pod := range n.Pods {
		for kind, list := range devicesOf(pod) {
			for _, allocation := range list {
				if allocation != nil {
					yield(pod, deviceKey{kind, allocation.Minor}, allocation)
				}
			}
		}
	}
}

// WithinDevices compares what pods hold, of the devices that one pod holds, with what the Device object says that there is.
// A nil pod stands for all devices.
func (n *Node) WithinDevices(of *corev1.Pod) []Violation {
	out := n.found(DeviceWithinCapacity)
	if n.Device == nil {
		return nil
	}
	reported := n.reported()
	taken, concerned := map[deviceKey]amounts{}, map[deviceKey]bool{}
	n.eachDevice(func(pod *corev1.Pod, key deviceKey, allocation *extension.DeviceAllocation) {
		if taken[key] == nil {
			taken[key] = amounts{}
		}
		taken[key].add(allocation.Resources)
		concerned[key] = concerned[key] || of == nil || pod.UID == of.UID
	})
	for key, sum := range taken {
		device, exists := reported[key]
		if !concerned[key] {
			continue
		}
		for name := range sum {
			if limit, offered := device.Resources[name]; exists && offered && sum.exceeds(name, limit) {
				out.add("%s gives %s of %s and has %s", key, sum.text(name), name, limit.String())
			}
		}
	}
	return out.sorted()
}

// DevicesGivenAway finds devices of one pod that the node does not have, or that are not healthy.
func (n *Node) DevicesGivenAway(pod *corev1.Pod) []Violation {
	out := n.found(DeviceWithinCapacity)
	reported := n.reported()
	for kind, list := range devicesOf(pod) {
		for _, allocation := range list {
			if allocation == nil {
				continue
			}
			key := deviceKey{kind, allocation.Minor}
			device, exists := reported[key]
			switch {
			case !exists:
				out.add("%s owns %s, which the node does not have", nameOf(pod), key)
			case !device.Health:
				out.add("%s owns %s, which is not healthy", nameOf(pod), key)
			case allocation.ID != "" && allocation.ID != device.UUID:
				out.add("%s owns %s with id %s, its id is %s", nameOf(pod), key, allocation.ID, device.UUID)
			}
		}
	}
	return out.sorted()
}

func (n *Node) reported() map[deviceKey]schedulingv1alpha1.DeviceInfo {
	reported := map[deviceKey]schedulingv1alpha1.DeviceInfo{}
	if n.Device == nil {
		return reported
	}
	for _, device := range n.Device.Spec.Devices {
		if device.Minor != nil {
			reported[deviceKey{device.Type, *device.Minor}] = device
		}
	}
	return reported
}
