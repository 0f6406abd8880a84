package device

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// kind numbers the device types that can be allocated.
type kind uint8

const (
	gpu kind = iota
	rdma
	fpga
	kinds
)

var typeNames = [kinds]schedulingv1alpha1.DeviceType{schedulingv1alpha1.GPU, schedulingv1alpha1.RDMA, schedulingv1alpha1.FPGA}

func (k kind) String() string { return string(typeNames[k]) }

// kindOf returns the number of a type; false for types that nothing requests.
func kindOf(name schedulingv1alpha1.DeviceType) (kind, bool) {
	for k, known := range typeNames {
		if known == name {
			return kind(k), true
		}
	}
	return 0, false
}

// dimension numbers what devices are measured in.
type dimension uint8

const (
	core dimension = iota
	memory
	ratio
	npuCore
	npuCPU
	npuDVPP
	rdmaShare
	fpgaShare
	dimensions
)

var dimensionNames = [dimensions]corev1.ResourceName{
	extension.ResourceGPUCore, extension.ResourceGPUMemory, extension.ResourceGPUMemoryRatio,
	extension.ResourceHuaweiNPUCore, extension.ResourceHuaweiNPUCPU, extension.ResourceHuaweiNPUDVPP,
	extension.ResourceRDMA, extension.ResourceFPGA,
}

// dimensionsOf says which dimensions devices of a type are measured in.
var dimensionsOf = [kinds][2]dimension{gpu: {core, npuDVPP}, rdma: {rdmaShare, rdmaShare}, fpga: {fpgaShare, fpgaShare}}

func (k kind) first() dimension { return dimensionsOf[k][0] }
func (k kind) last() dimension  { return dimensionsOf[k][1] }

// amountLimit bounds every amount, so that sums of thousands of them and a hundredfold of one cannot overflow. It is a
// pebibyte of device memory.
const amountLimit = int64(1) << 50

// Amount is an amount of one device: percent of compute, of memory, of a network card or an FPGA, bytes of memory,
// counts of NPU parts.
type Amount [dimensions]int64

// amountOf reads a resource list under the names of today or of older versions. Negative amounts count zero.
func amountOf(list corev1.ResourceList) Amount {
	var amount Amount
	for name, quantity := range list {
		name = extension.CanonicalResourceName(name)
		for d := range dimensions {
			if dimensionNames[d] == name {
				amount[d] = bounded(quantity)
			}
		}
	}
	return amount
}

func bounded(quantity resource.Quantity) int64 {
	switch approximate := quantity.AsApproximateFloat64(); {
	case approximate >= float64(amountLimit):
		return amountLimit
	case approximate <= 0:
		return 0
	}
	return quantity.Value()
}

// list writes an amount as resources; zero amounts are left out.
func (a *Amount) list() corev1.ResourceList {
	list := corev1.ResourceList{}
	for d, value := range a {
		if value == 0 {
			continue
		}
		format := resource.DecimalSI
		if dimension(d) == memory {
			format = resource.BinarySI
		}
		list[dimensionNames[d]] = *resource.NewQuantity(value, format)
	}
	return list
}

// completed fills in the memory of a ratio, or the ratio of a memory, on a device with so much of it. Both are rounded
// down, so that memory whose ratio is asked for again is never more than was meant.
func (a *Amount) completed(total *Amount) Amount {
	full := *a
	switch {
	case a[ratio] > 0 && a[memory] == 0:
		full[memory] = RatioToBytes(a[ratio], total[memory])
	case a[memory] > 0 && a[ratio] == 0:
		full[ratio] = BytesToRatio(a[memory], total[memory])
	}
	return full
}

// RatioToBytes is so many percent of the memory of a device.
func RatioToBytes(percent, total int64) int64 {
	return total/100*percent + total%100*percent/100
}

// BytesToRatio is so much memory in whole percent of all of a device's, 0 for a device without.
func BytesToRatio(bytes, total int64) int64 {
	if total <= 0 {
		return 0
	}
	return bytes * 100 / total
}

// add returns a + b, at most the limit.
func (a *Amount) add(b *Amount) {
	for d := range a {
		a[d] = min(a[d]+b[d], amountLimit)
	}
}

// less returns a - b, at least zero.
func (a *Amount) less(b *Amount) Amount {
	var rest Amount
	for d := range a {
		rest[d] = max(0, a[d]-b[d])
	}
	return rest
}

// lack returns the first dimension of the type in which the free amount is too small.
func (a *Amount) lack(free *Amount, k kind) (dimension, bool) {
	for d := k.first(); d <= k.last(); d++ {
		if a[d] > free[d] {
			return d, true
		}
	}
	return 0, false
}

// Types are the device types that can be allocated, in the order in which they are listed.
func Types() []schedulingv1alpha1.DeviceType { return slices.Clone(typeNames[:]) }

// Allocatable is true for a type that can be allocated.
func Allocatable(name schedulingv1alpha1.DeviceType) bool {
	_, known := kindOf(name)
	return known
}
