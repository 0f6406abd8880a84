package recommend

import (
	"math/bits"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podresize"
)

// note the change of one resource of a container when its request is outside of the bounds, and reports whether it
// could be changed at all. What is not requested stays so, because a request would change the pod's QoS class. CPUs that are
// pinned stay, because their number was placed. Memory is never taken away from a process that runs.
func note(r *podresize.Container, pod *corev1.Pod, c *corev1.Container, name corev1.ResourceName, b Bounds) bool {
	request, ok := c.Resources.Requests[name]
	if !ok || request.Sign() <= 0 || podresize.Restarts(c, name) {
		return false
	}
	if name == corev1.ResourceCPU && pinned(pod) {
		return false
	}
	current := value(request, name)
	if current >= b.Lower && current <= b.Upper || current == b.Target {
		return true
	}
	if name == corev1.ResourceMemory && b.Target < current {
		return true
	}
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	r.Requests[name] = quantity(b.Target, name)
	if limit, ok := c.Resources.Limits[name]; ok {
		if r.Limits == nil {
			r.Limits = corev1.ResourceList{}
		}
		r.Limits[name] = quantity(scaled(value(limit, name), b.Target, current), name)
	}
	return true
}

// noteUnlessHeld notes the change of one resource. Where that would be a change and an autoscaler holds the resource, it is noted as left to
// the autoscaler instead.
func noteUnlessHeld(r *podresize.Container, left *holds, by []Autoscaler, pod *corev1.Pod, c *corev1.Container, name corev1.ResourceName, b Bounds) bool {
	holder := holderOf(by, c.Name, name)
	if holder == nil {
		return note(r, pod, c, name, b)
	}
	var without podresize.Container
	changeable := note(&without, pod, c, name, b)
	if len(without.Requests) > 0 {
		left.add(holder, name)
	}
	return changeable
}

// pinned says whether a pod's CPUs are allocated one by one.
func pinned(pod *corev1.Pod) bool {
	qos := extension.QoSClass(pod.Labels[extension.LabelPodQoS])
	return qos == extension.QoSLSE || qos == extension.QoSLSR || pod.Annotations[extension.AnnotationResourceStatus] != ""
}

// scaled keeps the ratio of limit and request: limit x target / current, which is at least the target.
func scaled(limit, target, current int64) int64 {
	if limit == current {
		return target
	}
	hi, lo := bits.Mul64(uint64(limit), uint64(target))
	if hi >= uint64(current) {
		return max(limit, target)
	}
	quotient, _ := bits.Div64(hi, lo, uint64(current))
	if quotient > 1<<62 {
		return max(limit, target)
	}
	return max(int64(quotient), target)
}

func value(q resource.Quantity, name corev1.ResourceName) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// quantity of milli-cores or bytes.
func quantity(amount int64, name corev1.ResourceName) resource.Quantity {
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(amount, resource.DecimalSI)
	}
	return *resource.NewQuantity(amount, resource.BinarySI)
}
