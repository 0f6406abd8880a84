package invariants

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"koordinator.sh/koord/api/extension"
)

// amounts are sums of quantities. Unlike integers they do not overflow, whatever an annotation says.
type amounts map[corev1.ResourceName]resource.Quantity

func (a amounts) add(list corev1.ResourceList) {
	for name, quantity := range list {
		sum := a[name]
		sum.Add(quantity)
		a[name] = sum
	}
}

// exceeds reports whether a sum is more than a limit.
func (a amounts) exceeds(name corev1.ResourceName, limit resource.Quantity) bool {
	sum := a[name]
	return sum.Cmp(limit) > 0
}

func (a amounts) text(name corev1.ResourceName) string {
	sum := a[name]
	return sum.String()
}

// requestsOf is what the scheduler accounts for: init containers and overhead included, resizes at their larger side.
func requestsOf(pod *corev1.Pod) corev1.ResourceList {
	return resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{
		UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true,
	})
}

// times multiplies a quantity of cpu by an amplification ratio, rounded up to the thousandth.
func times(quantity resource.Quantity, ratio extension.Ratio) resource.Quantity {
	if ratio <= 1 {
		return quantity
	}
	// The ratio has two decimals; hundredths keep the product exact.
	hundredths := int64(float64(ratio)*100 + 0.5)
	return *resource.NewMilliQuantity((quantity.MilliValue()*hundredths+99)/100, resource.DecimalSI)
}

// occupies is true for pods that hold what they were given: bound, and not ended.
func occupies(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" && !ended(pod) }

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func nameOf(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }
