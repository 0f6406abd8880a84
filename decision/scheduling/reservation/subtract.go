package reservation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
)

// subtract takes what a user was allocated out of the allocations of the reserve pod. Annotations that cannot be read take
// nothing: holding too much delays a pod, holding too little gives a CPU away twice.
func subtract(pod *corev1.Pod, user map[string]string) {
	if user[extension.AnnotationResourceStatus] != "" {
		subtractStatus(pod, user)
	}
	if user[extension.AnnotationDeviceAllocated] != "" {
		subtractDevices(pod, user)
	}
}

func subtractStatus(pod *corev1.Pod, user map[string]string) {
	held, err := extension.GetResourceStatus(pod.Annotations)
	taken, takenErr := extension.GetResourceStatus(user)
	if err != nil || takenErr != nil || held == nil || taken == nil {
		return
	}
	heldCPUs, err := cpuset.Parse(held.CPUSet)
	takenCPUs, takenErr := cpuset.Parse(taken.CPUSet)
	if err == nil && takenErr == nil {
		held.CPUSet = heldCPUs.Difference(takenCPUs).String()
	}
	for i := range held.NUMANodeResources {
		zone := &held.NUMANodeResources[i]
		for _, other := range taken.NUMANodeResources {
			if other.Node == zone.Node {
				zone.Resources = minus(zone.Resources, other.Resources)
			}
		}
	}
	held.NUMANodeResources = slices.DeleteFunc(held.NUMANodeResources, func(zone extension.NUMANodeResource) bool { return len(zone.Resources) == 0 })
	_ = extension.SetResourceStatus(pod, held) // what was decoded can be encoded
}

func subtractDevices(pod *corev1.Pod, user map[string]string) {
	held, err := extension.GetDeviceAllocations(pod.Annotations)
	taken, takenErr := extension.GetDeviceAllocations(user)
	if err != nil || takenErr != nil || len(held) == 0 {
		return
	}
	for kind, devices := range held {
		for _, device := range devices {
			for _, other := range taken[kind] {
				if device != nil && other != nil && device.Minor == other.Minor {
					device.Resources = minus(device.Resources, other.Resources)
					subtractFunctions(device, other)
				}
			}
		}
		held[kind] = slices.DeleteFunc(devices, func(device *extension.DeviceAllocation) bool { return device == nil || len(device.Resources) == 0 })
		if len(held[kind]) == 0 {
			delete(held, kind)
		}
	}
	if len(held) == 0 {
		held = nil
	}
	_ = extension.SetDeviceAllocations(pod, held) // what was decoded can be encoded
}

func subtractFunctions(held, taken *extension.DeviceAllocation) {
	if held.Extension == nil || taken.Extension == nil {
		return
	}
	held.Extension.VirtualFunctions = slices.DeleteFunc(held.Extension.VirtualFunctions, func(function extension.VirtualFunction) bool {
		return slices.Contains(taken.Extension.VirtualFunctions, function)
	})
}

// minus drops what is not left.
func minus(held, taken corev1.ResourceList) corev1.ResourceList {
	left := AmountsOf(held)
	for name, value := range AmountsOf(taken) {
		if left[name] -= value; left[name] <= 0 {
			delete(left, name)
		}
	}
	return left.List()
}
