package reservation

import (
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"koordinator.sh/koord/decision/core/podrequest"
)

// Amounts of resources as the scheduler counts them: thousandths of a CPU, and whole units of everything else.
type Amounts map[corev1.ResourceName]int64

// AmountsOf converts quantities, rounding up. What is zero or negative is left out.
func AmountsOf(list corev1.ResourceList) Amounts {
	amounts := make(Amounts, len(list))
	for name, quantity := range list {
		value := podrequest.Whole(quantity)
		if name == corev1.ResourceCPU {
			value = podrequest.Milli(quantity)
		}
		if value > 0 {
			amounts[name] = value
		}
	}
	return amounts
}

// RequestsOf returns what a pod asks for: init containers and overhead included.
func RequestsOf(pod *corev1.Pod) Amounts {
	return AmountsOf(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))
}

// List converts back to quantities.
func (a Amounts) List() corev1.ResourceList {
	list := make(corev1.ResourceList, len(a))
	for name, value := range a {
		list[name] = quantityOf(name, value)
	}
	return list
}

func quantityOf(name corev1.ResourceName, value int64) resource.Quantity {
	switch name {
	case corev1.ResourceCPU:
		return *resource.NewMilliQuantity(value, resource.DecimalSI)
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return *resource.NewQuantity(value, resource.BinarySI)
	}
	return *resource.NewQuantity(value, resource.DecimalSI)
}

// names in a fixed order.
func (a Amounts) names() []corev1.ResourceName { return slices.Sorted(maps.Keys(a)) }

// plus adds, staying at the largest integer.
func plus(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}
