package batchcgroup

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Input is everything the bounds of one pod depend on. Nothing in it is modified.
type Input struct {
	// Tier whose resources the containers were read in: batch or mid.
	Tier podrequest.Tier
	// Containers of the pod, sidecars included.
	Containers []Container
	// NormalizationPercent is what one CPU of the node is worth: 120 for 1.2. 100 and less change nothing.
	NormalizationPercent int64
	// QuotaBySuppression is true while suppression holds all best-effort pods with one quota. It concerns batch pods alone.
	QuotaBySuppression bool
	// Overhead of the pod's sandbox in milli-cores and bytes, which only the pod is given.
	Overhead podrequest.Amount
}

// Container is what one container requests and is limited to.
type Container struct {
	Name string
	// Requests in milli-cores and bytes; 0 for none.
	Requests podrequest.Amount
	// Limits; 0 for none.
	Limits podrequest.Amount
}

// Applies says whether pods of a tier are bounded here.
func Applies(tier podrequest.Tier) bool { return tier == podrequest.Batch || tier == podrequest.Mid }

// FromPod reads the containers of a pod in its tier; false for a pod of neither batch nor mid. The annotation
// extended-resource-spec repeats their resources, and the creator of a pod can write it. It can only restrict a pod: it limits
// containers whose spec has no resources of the tier, which would have no limit without it. Sidecars are containers; init containers that end are
// bounded while they run, and left out of the pod's sum.
func FromPod(pod *corev1.Pod) (Input, bool) {
	requests := podrequest.Of(pod)
	tier := requests.Tier()
	if !Applies(tier) {
		return Input{}, false
	}
	listed, err := extension.GetExtendedResourceSpec(pod.Annotations)
	if err != nil || listed == nil {
		listed = &extension.ExtendedResourceSpec{}
	}
	in := Input{Tier: tier, Overhead: Amount(pod.Spec.Overhead, tier)}
	add := func(container *corev1.Container) {
		resources := &container.Resources
		bounded := Container{Name: container.Name, Requests: Amount(resources.Requests, tier), Limits: Amount(resources.Limits, tier)}
		if bounded.Requests == (podrequest.Amount{}) && bounded.Limits == (podrequest.Amount{}) {
			bounded.Limits = Amount(listed.Containers[container.Name].Limits, tier)
		}
		in.Containers = append(in.Containers, bounded)
	}
	for i := range pod.Spec.InitContainers {
		if policy := pod.Spec.InitContainers[i].RestartPolicy; policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			add(&pod.Spec.InitContainers[i])
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return in, true
}

// Amount reads the CPU and memory of a tier in a list; negative quantities count as zero.
func Amount(list corev1.ResourceList, tier podrequest.Tier) podrequest.Amount {
	cpu, memory := extension.BatchCPU, extension.BatchMemory
	if tier == podrequest.Mid {
		cpu, memory = extension.MidCPU, extension.MidMemory
	}
	milli, bytes := list[cpu], list[memory]
	return podrequest.Amount{MilliCPU: max(milli.Value(), 0), Memory: max(bytes.Value(), 0)}
}
