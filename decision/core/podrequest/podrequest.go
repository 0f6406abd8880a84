package podrequest

import (
	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"koordinator.sh/koord/api/extension"
)

// Tier says which of a node's resources a request is made in.
type Tier string

const (
	// Plain is cpu and memory.
	Plain Tier = "plain"
	// Mid is mid-cpu and mid-memory.
	Mid Tier = "mid"
	// Batch is batch-cpu and batch-memory.
	Batch Tier = "batch"
)

// Amount is a quantity of cpu and memory.
type Amount struct {
	// MilliCPU counts thousandths of a CPU.
	MilliCPU int64
	// Memory counts bytes.
	Memory int64
}

// Add returns the sum; a sum beyond the largest integer stays there.
func (a Amount) Add(b Amount) Amount {
	return Amount{MilliCPU: addSaturated(a.MilliCPU, b.MilliCPU), Memory: addSaturated(a.Memory, b.Memory)}
}

// Tiers is one amount for each tier.
type Tiers struct {
	Plain, Mid, Batch Amount
}

// Of returns the amount of a tier.
func (t Tiers) Of(tier Tier) Amount {
	switch tier {
	case Batch:
		return t.Batch
	case Mid:
		return t.Mid
	default:
		return t.Plain
	}
}

// Requests is what one pod asks for.
type Requests struct {
	// Requests by tier, as the scheduler accounts for them: overhead and init containers included.
	Requests Tiers
	// Band is the pod's priority band; pods that carry none get the one that goes with their QoS class.
	Band extension.PriorityClass
	// QoS is the pod's class; pods that carry none get the one that goes with their Kubernetes QoS.
	QoS extension.QoSClass
}

// Tier is the tier in which the pod consumes: the one its band consumes in, unless the pod requests nothing there and
// something in another.
func (r Requests) Tier() Tier {
	preferred := Plain
	switch r.Band {
	case extension.PriorityBatch:
		preferred = Batch
	case extension.PriorityMid:
		preferred = Mid
	}
	for _, tier := range []Tier{preferred, Batch, Mid, Plain} {
		if r.Requests.Of(tier) != (Amount{}) {
			return tier
		}
	}
	return preferred
}

// HighPriority reports whether batch resources are computed from what this pod leaves: true for every pod that is
// neither koord-batch nor koord-free.
func (r Requests) HighPriority() bool { return HighPriority(r.Band) }

// HighPriority reports whether a band is neither koord-batch nor koord-free.
func HighPriority(band extension.PriorityClass) bool {
	return band != extension.PriorityBatch && band != extension.PriorityFree
}

// Consumes reports whether a pod occupies its node: it is bound or about to be, and neither succeeded nor failed.
func Consumes(pod *corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// Of adds up what a pod asks for. Negative quantities, which no API server admits, count as zero.
func Of(pod *corev1.Pod) Requests {
	out := Requests{Band: extension.PodPriorityClassWithDefault(pod), QoS: extension.PodQoSClassWithDefault(pod)}
	if !simple(pod) {
		accumulate(&out.Requests, resourcehelper.PodRequests(pod, helperOptions), nil)
		return out
	}
	for i := range pod.Spec.Containers {
		accumulate(&out.Requests, pod.Spec.Containers[i].Resources.Requests, nil)
	}
	return out
}

// LimitsOf adds up what a pod is limited to, by tier. 0 means that it is not limited, because at least one of its
// containers is not.
func LimitsOf(pod *corev1.Pod) Tiers {
	limits := SetLimitsOf(pod)
	var ignored Tiers
	var limited, whole [resourceCount]int
	for i := range pod.Spec.Containers {
		accumulate(&ignored, pod.Spec.Containers[i].Resources.Limits, &limited)
	}
	if pod.Spec.Resources != nil {
		accumulate(&ignored, pod.Spec.Resources.Limits, &whole)
	}
	for i, counter := range limits.counters() {
		if limited[i] < len(pod.Spec.Containers) && whole[i] == 0 {
			*counter = 0
		}
	}
	return limits
}

// SetLimitsOf adds up the limits that are set, by tier, whether or not every container has one. It is no bound on what
// the pod can use; LimitsOf is.
func SetLimitsOf(pod *corev1.Pod) Tiers {
	var limits Tiers
	if !simple(pod) {
		accumulate(&limits, resourcehelper.PodLimits(pod, helperOptions), nil)
		return limits
	}
	for i := range pod.Spec.Containers {
		accumulate(&limits, pod.Spec.Containers[i].Resources.Limits, nil)
	}
	return limits
}

// helperOptions make Kubernetes' helper count resizes in flight at their larger side, as the scheduler does.
var helperOptions = resourcehelper.PodResourcesOptions{
	UseStatusResources: true,
	InPlacePodLevelResourcesVerticalScalingEnabled: true,
}
