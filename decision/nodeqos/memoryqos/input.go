package memoryqos

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Input is everything the memory of one node's pods depends on. Nothing in it is modified.
type Input struct {
	Strategy *slov1alpha1.ResourceQOSStrategy
	// Allocatable memory of the node in bytes, for containers without a limit.
	Allocatable int64
	// PageSize in bytes; 4096 where it is 0.
	PageSize int64
	Pods     []Pod
}

// Pod is what is known of one pod that runs.
type Pod struct {
	Namespace string
	Name      string
	UID       string
	// QoS is the pod's class, and KubeQOS the group of pods it lies in.
	QoS     extension.QoSClass
	KubeQOS corev1.PodQOSClass
	Amounts
	Containers []Container
	// Config is the pod's annotation; nil without one that can be read.
	Config *slov1alpha1.PodMemoryQOSConfig
	// Problem says why the annotation could not be read; empty when it could.
	Problem string
}

// Container of a pod.
type Container struct {
	Name string
	Amounts
}

// PodOf reads a pod: its memory is that of the tier it consumes in. Its containers are those that run as long as it does, sidecars
// first.
func PodOf(pod *corev1.Pod) Pod {
	requests := podrequest.Of(pod)
	tier := requests.Tier()
	out := Pod{
		Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID), QoS: requests.QoS, KubeQOS: extension.KubeQOSClass(pod),
		Amounts: Amounts{Request: requests.Requests.Of(tier).Memory, Limit: podrequest.LimitsOf(pod).Of(tier).Memory},
	}
	for i := range pod.Spec.InitContainers {
		if sidecar := &pod.Spec.InitContainers[i]; sidecar.RestartPolicy != nil && *sidecar.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			out.Containers = append(out.Containers, containerOf(sidecar, tier))
		}
	}
	for i := range pod.Spec.Containers {
		out.Containers = append(out.Containers, containerOf(&pod.Spec.Containers[i], tier))
	}
	config, err := slov1alpha1.PodMemoryQOS(pod.Annotations)
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	out.Config = config
	return out
}

func containerOf(container *corev1.Container, tier podrequest.Tier) Container {
	resources := &container.Resources
	return Container{Name: container.Name, Amounts: Amounts{Request: memoryOf(resources.Requests, tier), Limit: memoryOf(resources.Limits, tier)}}
}

// memoryOf is the memory of a tier in a list, in bytes.
func memoryOf(list corev1.ResourceList, tier podrequest.Tier) int64 {
	name := corev1.ResourceMemory
	switch tier {
	case podrequest.Batch:
		name = extension.BatchMemory
	case podrequest.Mid:
		name = extension.MidMemory
	}
	quantity := list[name]
	return max(quantity.Value(), 0)
}
