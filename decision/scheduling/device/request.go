package device

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	resourcehelper "k8s.io/component-helpers/resource"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Request is what a pod asks of devices. It is read-only, and safe for concurrent use.
type Request struct {
	// Demands by type: gpu, rdma, fpga, those that the pod has.
	Demands []Demand
	// joint are the types to allocate close to each other, the leading one first; empty when there are not two.
	joint    []kind
	samePCIe bool
	// partition is what the pod asks of GPU partitions.
	partition partitionRule
	// isolation is the provider that must isolate shares of a GPU, empty when any may.
	isolation string
	// templates that the shares match, by VENDOR-MODEL; byTemplate is true when one must.
	templates  map[string]string
	byTemplate bool
}

// Demand is what a pod asks of the devices of one type.
type Demand struct {
	Type schedulingv1alpha1.DeviceType
	// Asked is the request as the pod states it.
	Asked corev1.ResourceList
	// Count of devices; every one that matches when All is set.
	Count int
	All   bool
	// Each is taken from every device. Memory is stated in bytes or in percent, the other one is then zero.
	Each Amount
	// Shared is true when the devices may be shared with others.
	Shared bool

	kind       kind
	selector   labels.Selector
	vfSelector labels.Selector
	scope      level
	exclusive  exclusivity
}

// partitionRule is the content of the GPU partition annotation.
type partitionRule struct {
	// required is true when the annotation is there: only listed partitions will do.
	required bool
	// best allows only those with the best score of their size.
	best bool
	// bandwidth the ring must have at least, 0 for any.
	bandwidth int64
}

// resourceFlags tell the requestable resources apart in combinations.
type resourceFlags uint16

const (
	flagNvidia resourceFlags = 1 << iota
	flagAMD
	flagDCU
	flagGPU
	flagShared
	flagCore
	flagMemory
	flagRatio
	flagNPUCore
	flagNPUCPU
	flagNPUDVPP
	flagRDMA
	flagFPGA
)

// classify returns the type that a resource is requested of; false for all other resources. It knows deprecated names.
func classify(name corev1.ResourceName) (k kind, flag resourceFlags, known bool) {
	switch extension.CanonicalResourceName(name) {
	case extension.ResourceNvidiaGPU:
		return gpu, flagNvidia, true
	case extension.ResourceAMDGPU:
		return gpu, flagAMD, true
	case extension.ResourceHygonDCU:
		return gpu, flagDCU, true
	case extension.ResourceGPU:
		return gpu, flagGPU, true
	case extension.ResourceGPUShared:
		return gpu, flagShared, true
	case extension.ResourceGPUCore:
		return gpu, flagCore, true
	case extension.ResourceGPUMemory:
		return gpu, flagMemory, true
	case extension.ResourceGPUMemoryRatio:
		return gpu, flagRatio, true
	case extension.ResourceHuaweiNPUCore:
		return gpu, flagNPUCore, true
	case extension.ResourceHuaweiNPUCPU:
		return gpu, flagNPUCPU, true
	case extension.ResourceHuaweiNPUDVPP:
		return gpu, flagNPUDVPP, true
	case extension.ResourceRDMA:
		return rdma, flagRDMA, true
	case extension.ResourceFPGA:
		return fpga, flagFPGA, true
	}
	return 0, 0, false
}

// Concerns is true when a pod requests some device. It allocates nothing.
func Concerns(pod *corev1.Pod) bool {
	return concern(pod.Spec.Containers) || concern(pod.Spec.InitContainers)
}

func concern(containers []corev1.Container) bool {
	for i := range containers {
		for name, quantity := range containers[i].Resources.Requests {
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
				continue
			}
			if _, _, known := classify(name); known && !quantity.IsZero() {
				return true
			}
		}
	}
	return false
}

// asked sums the requests of a pod for devices, by type, under today's names.
func asked(pod *corev1.Pod) [kinds]corev1.ResourceList {
	var byType [kinds]corev1.ResourceList
	for name, quantity := range resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}) {
		k, _, known := classify(name)
		if !known || quantity.Sign() == 0 {
			continue
		}
		if byType[k] == nil {
			byType[k] = corev1.ResourceList{}
		}
		name = extension.CanonicalResourceName(name)
		sum := byType[k][name]
		sum.Add(quantity)
		byType[k][name] = sum
	}
	return byType
}
