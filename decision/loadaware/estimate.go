package loadaware

import (
	"maps"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/podrequest"
)

const (
	// unrequestedMilliCPU is what a pod that requests no cpu is expected to use.
	unrequestedMilliCPU = 250
	// unrequestedMemory is what a pod that requests no memory is expected to use, in bytes.
	unrequestedMemory = 200 << 20
)

// Estimate is what a pod is expected to use, and what else of it matters to the decision. It is read-only.
type Estimate struct {
	// Usage by resource number of the policy, in plain resources: a batch pod's batch-cpu counts as cpu.
	Usage []int64
	// Class is the pod's priority class, defaulted from its QoS class.
	Class extension.PriorityClass
	// Prod is true for pods of the prod band.
	Prod bool
	// DaemonSet is true for pods that belong to a DaemonSet; they pass every node.
	DaemonSet bool
}

// Estimate says what a pod is expected to use: of the larger of its request and limit, the percentage that the
// resource's scaling factor names, at most the limit.
func (p *Policy) Estimate(pod *corev1.Pod) Estimate {
	estimate := Estimate{Class: extension.PodPriorityClassWithDefault(pod), Usage: make([]int64, len(p.resources))}
	estimate.Prod = estimate.Class == extension.PriorityProd
	for i := range pod.OwnerReferences {
		if owner := &pod.OwnerReferences[i]; owner.Kind == "DaemonSet" && owner.Controller != nil && *owner.Controller {
			estimate.DaemonSet = true
		}
	}
	asked := podrequest.Of(pod)
	tier := asked.Tier()
	request, limit := asked.Requests.Of(tier), podrequest.LimitsOf(pod).Of(tier)
	factors := p.factorsOf(pod)
	for i, name := range p.resources {
		switch name {
		case corev1.ResourceCPU:
			estimate.Usage[i] = scale(request.MilliCPU, limit.MilliCPU, factors[i], unrequested(tier, unrequestedMilliCPU))
		case corev1.ResourceMemory:
			estimate.Usage[i] = scale(request.Memory, limit.Memory, factors[i], unrequested(tier, unrequestedMemory))
		default:
			estimate.Usage[i] = scale(otherRequest(pod, name), otherLimit(pod, name), factors[i], 0)
		}
	}
	return estimate
}

// EstimatePod is Policy.Estimate for callers with a single pod.
func EstimatePod(pod *corev1.Pod, args *Args) corev1.ResourceList {
	policy := NewPolicy(args)
	return policy.ResourceList(policy.Estimate(pod).Usage)
}

// ResourceList writes a vector of the policy as a resource list, without the resources that are zero.
func (p *Policy) ResourceList(vector []int64) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i, name := range p.resources {
		switch {
		case vector[i] == 0:
		case name == corev1.ResourceCPU:
			list[name] = *resource.NewMilliQuantity(vector[i], resource.DecimalSI)
		case name == corev1.ResourceMemory:
			list[name] = *resource.NewQuantity(vector[i], resource.BinarySI)
		default:
			list[name] = *resource.NewQuantity(vector[i], resource.DecimalSI)
		}
	}
	return list
}

// scale estimates one resource from request and limit, 0 meaning none, and a factor in percent.
func scale(request, limit, factor, unrequested int64) int64 {
	asked := min(max(limit, request), amountLimit)
	if asked <= 0 {
		return unrequested
	}
	estimated := int64(math.Round(float64(asked) * float64(factor) / 100))
	if limit > 0 {
		estimated = min(estimated, limit)
	}
	return estimated
}

// unrequested is what a pod uses of a resource it does not ask for: nothing when it consumes mid resources.
func unrequested(tier podrequest.Tier, usual int64) int64 {
	if tier == podrequest.Mid {
		return 0
	}
	return usual
}

func otherRequest(pod *corev1.Pod, name corev1.ResourceName) int64 {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	return amount(name, requests[name])
}

func otherLimit(pod *corev1.Pod, name corev1.ResourceName) int64 {
	limits := resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{})
	return amount(name, limits[name])
}

// factorsOf returns the pod's own scaling factors where the policy honours them and they can be read.
func (p *Policy) factorsOf(pod *corev1.Pod) []int64 {
	if !p.args.AllowCustomizeEstimation {
		return p.factors
	}
	custom, err := extension.GetEstimatedScalingFactors(pod.Annotations)
	if err != nil || len(custom) == 0 {
		return p.factors
	}
	merged := maps.Clone(p.args.EstimatedScalingFactors)
	for name, factor := range custom {
		if factor > 0 && factor <= 100 {
			merged[name] = factor
		}
	}
	factors := p.vector(merged)
	for i := range factors {
		if factors[i] == 0 {
			factors[i] = 100
		}
	}
	return factors
}

// estimateUntil is when an assigned pod stops counting by its estimate for the sake of its youth alone.
func (p *Policy) estimateUntil(assigned AssignedPod) time.Time {
	scheduled, initialized := p.estimateFor(assigned.Pod)
	if initialized > 0 {
		if at, ok := conditionTrueSince(assigned.Pod, corev1.PodInitialized); ok {
			return at.Add(initialized)
		}
	}
	if scheduled > 0 {
		if at, ok := conditionTrueSince(assigned.Pod, corev1.PodScheduled); ok {
			return at.Add(scheduled)
		}
		return assigned.AssignedAt.Add(scheduled)
	}
	return time.Time{}
}

func (p *Policy) estimateFor(pod *corev1.Pod) (scheduled, initialized time.Duration) {
	if seconds := p.args.EstimatedSecondsAfterPodScheduled; seconds != nil {
		scheduled = time.Duration(*seconds) * time.Second
	}
	if seconds := p.args.EstimatedSecondsAfterInitialized; seconds != nil {
		initialized = time.Duration(*seconds) * time.Second
	}
	if !p.args.AllowCustomizeEstimation {
		return scheduled, initialized
	}
	if custom, err := extension.EstimatedAfterPodScheduled(pod.Annotations); err == nil && custom != nil {
		scheduled = *custom
	}
	if custom, err := extension.EstimatedAfterInitialized(pod.Annotations); err == nil && custom != nil {
		initialized = *custom
	}
	return scheduled, initialized
}

func conditionTrueSince(pod *corev1.Pod, kind corev1.PodConditionType) (time.Time, bool) {
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type == kind && condition.Status == corev1.ConditionTrue {
			return condition.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}
