package cpulimit

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podresize"
)

// quotaStep is the smallest CPU quota that the kernel takes, 1 ms in 100 ms, in milli-cores. A limit stays above its request by that much:
// limits that equal the requests would make the pod Guaranteed, and a resize must not change the QoS class.
const quotaStep = 10

// Range is how far the CPU limits of a pod can be lowered. All amounts are sums over its containers, in milli-cores.
type Range struct {
	// Least is what the limits can be lowered to, and Limit what they are now.
	Least, Limit int64
	// Before is what they were before they were lowered, and Usage what the pod was predicted to use then; 0 if they were not.
	Before, Usage int64
	// Kept says why the limits are not lowered (any further); empty if they may be.
	Kept string
	// Withdrawn is true for a pod that is to get its limits back, whatever the load of its node: they may not be lowered any more.
	Withdrawn bool
}

// Of returns the range of a pod. Of one whose limits must stay and were not lowered, the amounts are 0.
func Of(pod *corev1.Pod) Range {
	kept, lowered := permitted(pod), InForce(pod)
	if kept != "" && lowered == nil {
		return Range{Kept: kept}
	}
	var out Range
	if reason := out.sum(pod); reason != "" {
		return Range{Kept: reason}
	}
	out.Kept = kept
	if lowered != nil {
		out.Usage, out.Before, out.Withdrawn = lowered.Usage.MilliValue(), out.Limit, kept != ""
		for _, one := range lowered.Containers {
			out.Before += one.Before.MilliValue() - one.After.MilliValue()
		}
	}
	switch {
	case out.Kept != "":
	case out.Limit <= out.Least:
		out.Kept = "its CPU limits are as low as its requests"
	default:
		out.Kept = busy(pod)
	}
	return out
}

// Lowered says whether the limits are lower than they were.
func (r Range) Lowered() bool { return r.Before > 0 }

// permitted says why the limits of a pod must stay; empty if they may be lowered.
func permitted(pod *corev1.Pod) string {
	switch value := pod.Annotations[extension.AnnotationResizeInPlace]; value {
	case extension.ResizeInPlaceAllowed:
	case "":
		if owner := metav1.GetControllerOfNoCopy(pod); owner == nil || owner.Kind != "Job" {
			return "it is not of a Job"
		}
	default:
		return fmt.Sprintf("its annotation %s is %q", extension.AnnotationResizeInPlace, value)
	}
	if extension.PodQoSClass(pod) == extension.QoSBE {
		return "the agent holds best-effort pods back"
	}
	return ""
}

// busy says why a pod cannot be resized at present; empty if it can.
func busy(pod *corev1.Pod) string {
	switch {
	case pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning:
		return "it does not run"
	case podresize.UnderWay(pod):
		return "a resize is under way"
	case !podresize.Supported(pod):
		return "its node cannot resize pods"
	}
	return ""
}

// sum adds up the containers, and says why the limits of the pod cannot be lowered: with one container without a limit, the others would
// leave it what they are refused.
func (r *Range) sum(pod *corev1.Pod) string {
	if pod.Spec.Resources != nil {
		return "resources of a whole pod cannot be changed in place"
	}
	for _, c := range podresize.Containers(pod) {
		limit, limited := c.Resources.Limits[corev1.ResourceCPU]
		request := c.Resources.Requests[corev1.ResourceCPU]
		switch {
		case !limited || limit.Sign() <= 0:
			return fmt.Sprintf("container %q has no CPU limit", c.Name)
		case podresize.Restarts(c, corev1.ResourceCPU):
			return fmt.Sprintf("container %q restarts when its CPU changes", c.Name)
		}
		r.Limit += limit.MilliValue()
		r.Least += least(request.MilliValue(), limit.MilliValue())
	}
	return ""
}

// least limit of a container.
func least(request, limit int64) int64 { return min(request+quotaStep, limit) }
