package loadaware

import (
	"maps"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
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

// Estimate says what a pod is expected to use: of the larger of its request and of the limits that are set, the
// percentage that the resource's scaling factor names, at most the limit where every container has one.
func (p *Policy) Estimate(pod *corev1.Pod) Estimate {
	estimate := Estimate{Class: extension.PodPriorityClassWithDefault(pod), Usage: make([]int64, len(p.resources))}
	estimate.Prod = estimate.Class == extension.PriorityProd
	estimate.DaemonSet = slices.ContainsFunc(pod.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.Kind == "DaemonSet" })
	requests := podrequest.Of(pod)
	tier := requests.Tier()
	request, set, bound := requests.Requests.Of(tier), podrequest.SetLimitsOf(pod).Of(tier), podrequest.LimitsOf(pod).Of(tier)
	factors := p.factorsOf(pod)
	for i, name := range p.resources {
		switch name {
		case corev1.ResourceCPU:
			asked := demand{request.MilliCPU, set.MilliCPU, bound.MilliCPU, unrequested(tier, unrequestedMilliCPU)}
			estimate.Usage[i] = asked.scaled(factors[i])
		case corev1.ResourceMemory:
			asked := demand{request.Memory, set.Memory, bound.Memory, unrequested(tier, unrequestedMemory)}
			estimate.Usage[i] = asked.scaled(factors[i])
		default:
			estimate.Usage[i] = otherDemand(pod, name).scaled(factors[i])
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

// demand is what a pod asks for of one resource.
type demand struct {
	request int64
	// limits is the sum of those that are set; bound is the same where every container has one, and 0 elsewhere.
	limits, bound int64
	// unrequested is used by a pod that asks for nothing.
	unrequested int64
}

// scaled estimates the use of one resource from a factor in percent. What is asked for without a factor counts nothing.
func (d demand) scaled(factor int64) int64 {
	asked := min(max(d.request, d.limits), amountLimit)
	if asked <= 0 {
		return d.unrequested
	}
	estimated := int64(math.Round(min(float64(asked)*float64(factor)/100, float64(amountLimit))))
	if d.bound > 0 {
		estimated = min(estimated, d.bound)
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

// otherDemand reads a resource that has no tiers.
func otherDemand(pod *corev1.Pod, name corev1.ResourceName) demand {
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	limits := resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{})
	asked := demand{request: amount(name, requests[name]), limits: amount(name, limits[name])}
	unlimited := func(container corev1.Container) bool {
		quantity, limited := container.Resources.Limits[name]
		return !limited || quantity.IsZero()
	}
	if !slices.ContainsFunc(pod.Spec.Containers, unlimited) {
		asked.bound = asked.limits
	}
	return asked
}

// factorsOf returns the pod's own scaling factors where the policy honours them and they can be read, over those of the
// policy. They may be 0, for a pod that takes nothing while it counts by its estimate, and beyond 100.
func (p *Policy) factorsOf(pod *corev1.Pod) []int64 {
	if !p.args.AllowCustomizeEstimation {
		return p.factors
	}
	custom, err := extension.GetEstimatedScalingFactors(pod.Annotations)
	if err != nil || len(custom) == 0 {
		return p.factors
	}
	merged := maps.Clone(p.args.EstimatedScalingFactors)
	maps.Copy(merged, custom)
	return p.vector(merged)
}

// estimateUntil is the moment from which reports count for an assigned pod even though it is young; zero when they
// always do.
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
	scheduled, initialized = seconds(p.args.EstimatedSecondsAfterPodScheduled), seconds(p.args.EstimatedSecondsAfterInitialized)
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

func seconds(count *int64) time.Duration {
	if count == nil {
		return 0
	}
	return time.Duration(*count) * time.Second
}

func conditionTrueSince(pod *corev1.Pod, kind corev1.PodConditionType) (time.Time, bool) {
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type == kind && condition.Status == corev1.ConditionTrue && !condition.LastTransitionTime.IsZero() {
			return condition.LastTransitionTime.Time, true
		}
	}
	return time.Time{}, false
}
