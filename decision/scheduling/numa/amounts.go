package numa

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/decision/core/podrequest"
)

// Amounts of resources: cpu in milliCPU, everything else in its own unit. Never negative.
type Amounts map[corev1.ResourceName]int64

// amountsOf reads a resource list; negative quantities count as zero, and resources of which there is none are left out.
func amountsOf(list corev1.ResourceList) Amounts {
	amounts := make(Amounts, len(list))
	for name, quantity := range list {
		if amount := amountOf(name, quantity); amount > 0 {
			amounts[name] = amount
		}
	}
	return amounts
}

// maxAmount is 64 PiB, or as many thousandths of a CPU. Larger amounts count as this, so that sums over zones stay in
// range.
const maxAmount = 1 << 56

func amountOf(name corev1.ResourceName, quantity resource.Quantity) int64 {
	amount := podrequest.Whole(quantity)
	if name == corev1.ResourceCPU {
		amount = podrequest.Milli(quantity)
	}
	return min(max(amount, 0), maxAmount)
}

// list is the amounts as they stand in annotations.
func (a Amounts) list() corev1.ResourceList {
	list := make(corev1.ResourceList, len(a))
	for name, amount := range a {
		switch name {
		case corev1.ResourceCPU:
			list[name] = *resource.NewMilliQuantity(amount, resource.DecimalSI)
		case corev1.ResourceMemory:
			list[name] = *resource.NewQuantity(amount, resource.BinarySI)
		default:
			list[name] = *resource.NewQuantity(amount, resource.DecimalSI)
		}
	}
	return list
}

// names of the resources, sorted.
func (a Amounts) names() []corev1.ResourceName { return slices.Sorted(maps.Keys(a)) }
