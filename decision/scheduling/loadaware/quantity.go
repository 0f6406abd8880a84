package loadaware

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// amountLimit bounds every amount, so that sums of a few thousand of them cannot overflow.
const amountLimit = int64(1) << 50

// amount reads the quantity of one resource: cpu in milliCPU, everything else in its own unit, memory so in bytes.
func amount(name corev1.ResourceName, quantity resource.Quantity) int64 {
	scale := 1.0
	if name == corev1.ResourceCPU {
		scale = 1000
	}
	switch approximate := quantity.AsApproximateFloat64() * scale; {
	case approximate >= float64(amountLimit):
		return amountLimit
	case approximate <= -float64(amountLimit):
		return -amountLimit
	}
	if name == corev1.ResourceCPU {
		return quantity.MilliValue()
	}
	return quantity.Value()
}

// amounts reads the policy's resources from a list; a resource that is not in it counts zero.
func (p *Policy) amounts(list corev1.ResourceList) []int64 {
	vector := make([]int64, len(p.resources))
	p.amountsInto(vector, list)
	return vector
}

// amountsInto is amounts in a vector of zeros.
func (p *Policy) amountsInto(vector []int64, list corev1.ResourceList) {
	for i, name := range p.resources {
		if quantity, found := list[name]; found {
			vector[i] = amount(name, quantity)
		}
	}
}

// percent is used/capacity in whole percent, rounded half away from zero, at most amountLimit. Capacity must be
// positive.
func percent(used, capacity int64) int64 {
	return int64(math.Round(min(float64(used)/float64(capacity)*100, float64(amountLimit))))
}
