package prodovercommit

import (
	"fmt"
	"math"
	"math/bits"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
)

// Apply sets the requests of a pod to its limits divided by a factor, which is text as ParseProdOvercommitFactor reads it,
// rounded up to thousandths of a cpu and to whole bytes. What has no limit, or no factor, stays. Pods that are not prod, pods
// that own their cpus and pods with resources as a whole are left alone; so is every pod when the factor cannot be read.
// Applying it again changes nothing. A nil trace records nothing.
func Apply(pod *corev1.Pod, factor, source string, trace *Trace) error {
	trace.begin(source)
	factors, err := extension.ParseProdOvercommitFactor(factor)
	if err != nil {
		trace.spared("the factor of %s cannot be read: %v", source, err)
		return nil
	}
	trace.read(factors)
	if why := exempt(pod); why != "" {
		trace.spared("%s", why)
		return nil
	}
	applied := false
	for i := range pod.Spec.InitContainers {
		applied = apply(&pod.Spec.InitContainers[i], factors, "spec.initContainers", trace) || applied
	}
	for i := range pod.Spec.Containers {
		applied = apply(&pod.Spec.Containers[i], factors, "spec.containers", trace) || applied
	}
	if !applied {
		trace.spared("the pod has no limit of a resource with a factor")
		return nil
	}
	if err := extension.SetProdOvercommit(pod, &extension.ProdOvercommit{Factor: factors, Source: source}); err != nil {
		return fmt.Errorf("record the overcommit of %s: %w", source, err)
	}
	return nil
}

// apply sets the requests of one container, and reports whether any followed from a limit.
func apply(container *corev1.Container, factors map[corev1.ResourceName]extension.Ratio, path string, trace *Trace) bool {
	applied := false
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		limit, limited := container.Resources.Limits[name]
		factor, ok := factors[name]
		if !limited || !ok {
			continue
		}
		request := divide(name, limit, factor)
		before, requested := container.Resources.Requests[name]
		if trace != nil {
			amount := Amount{Field: fmt.Sprintf("%s[%s].resources.requests[%s]", path, container.Name, name), Limit: limit.String(), After: request.String()}
			if requested {
				amount.Before = before.String()
			}
			trace.Amounts = append(trace.Amounts, amount)
		}
		if requested && before.Cmp(request) == 0 {
			request = before
		}
		if container.Resources.Requests == nil {
			container.Resources.Requests = corev1.ResourceList{}
		}
		container.Resources.Requests[name] = request
		applied = true
	}
	return applied
}

// exempt says why a pod is left alone; empty when it is not.
func exempt(pod *corev1.Pod) string {
	class := extension.PodPriorityClass(pod)
	if class == extension.PriorityNone {
		class = extension.PriorityClassOfQoS(extension.PodQoSClass(pod))
	}
	switch qos := extension.PodQoSClass(pod); {
	case class != extension.PriorityNone && class != extension.PriorityProd:
		return fmt.Sprintf("the pod is %s, not %s", class, extension.PriorityProd)
	case qos == extension.QoSLSE || qos == extension.QoSLSR || qos == extension.QoSSystem || qos == extension.QoSBE:
		return fmt.Sprintf("requests of pods with QoS class %s are not overcommitted", qos)
	case pod.Annotations[extension.AnnotationResourceSpec] != "":
		return "the pod requests exclusive CPUs"
	case pod.Spec.Resources != nil:
		return "the pod has pod-level resources"
	}
	return ""
}

// divide is limit/factor, rounded up, and never more than the limit.
func divide(name corev1.ResourceName, limit resource.Quantity, factor extension.Ratio) resource.Quantity {
	percent := uint64(math.Round(float64(factor) * 100))
	if percent <= 100 {
		return limit
	}
	if name == corev1.ResourceCPU {
		return smaller(limit, *resource.NewMilliQuantity(quotient(limit.MilliValue(), percent), limit.Format))
	}
	return smaller(limit, *resource.NewQuantity(quotient(limit.Value(), percent), limit.Format))
}

func smaller(limit, request resource.Quantity) resource.Quantity {
	if request.Cmp(limit) > 0 {
		return limit
	}
	return request
}

// quotient is value*100/percent, rounded up, for a percent above 100; the product has 128 bits.
func quotient(value int64, percent uint64) int64 {
	if value <= 0 {
		return value
	}
	high, low := bits.Mul64(uint64(value), 100)
	whole, rest := bits.Div64(high, low, percent)
	if rest > 0 {
		whole++
	}
	return int64(whole)
}
