package podrequest

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
)

// simple reports whether a pod's requests are no more than the sum over its containers: no init containers, overhead,
// pod-level resources or resize in flight. Nearly every pod is; adding those up without maps is several times faster,
// which counts for a node controller that does it for every pod of every node each minute.
func simple(pod *corev1.Pod) bool {
	if len(pod.Spec.InitContainers) > 0 || len(pod.Spec.Overhead) > 0 || pod.Spec.Resources != nil {
		return false
	}
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if status.Resources == nil {
			continue
		}
		spec := containerSpec(pod, i, status.Name)
		if spec == nil || !sameAmounts(spec.Resources.Requests, status.Resources.Requests) ||
			!sameAmounts(spec.Resources.Limits, status.Resources.Limits) ||
			len(status.AllocatedResources) > 0 && !sameAmounts(spec.Resources.Requests, status.AllocatedResources) {
			return false
		}
	}
	return true
}

// containerSpec finds the container of a status, which nearly always stands at the same index.
func containerSpec(pod *corev1.Pod, index int, name string) *corev1.Container {
	if index < len(pod.Spec.Containers) && pod.Spec.Containers[index].Name == name {
		return &pod.Spec.Containers[index]
	}
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name == name {
			return &pod.Spec.Containers[i]
		}
	}
	return nil
}

func sameAmounts(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, quantity := range a {
		other, ok := b[name]
		if !ok || quantity.Cmp(other) != 0 {
			return false
		}
	}
	return true
}

// resourceCount is the number of resources in Tiers.
const resourceCount = 6

// resources are the names in Tiers, most frequent first, in the order of Tiers.counters.
var resources = [resourceCount]corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceMemory,
	extension.BatchCPU, extension.BatchMemory, extension.MidCPU, extension.MidMemory,
}

// counters are the six amounts, in the order of resources.
func (t *Tiers) counters() [resourceCount]*int64 {
	return [resourceCount]*int64{
		&t.Plain.MilliCPU, &t.Plain.Memory,
		&t.Batch.MilliCPU, &t.Batch.Memory,
		&t.Mid.MilliCPU, &t.Mid.Memory,
	}
}

// accumulate adds a resource list to the tiers and counts which resources it had. Looking the few names up is several
// times faster than ranging over the map.
func accumulate(into *Tiers, list corev1.ResourceList, seen *[resourceCount]int) {
	counters := into.counters()
	left := len(list)
	for i := 0; i < resourceCount && left > 0; i++ {
		quantity, ok := list[resources[i]]
		if !ok {
			continue
		}
		left--
		value := amount(quantity, resources[i] == corev1.ResourceCPU)
		*counters[i] = addSaturated(*counters[i], value)
		if seen != nil && value > 0 {
			seen[i]++
		}
	}
}

// amount reads a quantity in thousandths (plain cpu) or whole units, rounded up; negative ones count as zero.
func amount(quantity resource.Quantity, milli bool) int64 {
	if milli {
		return max(Milli(quantity), 0)
	}
	return max(Whole(quantity), 0)
}

func addSaturated(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}
