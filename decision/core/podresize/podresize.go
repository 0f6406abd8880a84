package podresize

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Containers are those of a pod that run for as long as it does: its sidecars, and then its containers.
func Containers(pod *corev1.Pod) []*corev1.Container {
	var out []*corev1.Container
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			out = append(out, c)
		}
	}
	for i := range pod.Spec.Containers {
		out = append(out, &pod.Spec.Containers[i])
	}
	return out
}

// Sidecars are how many of the first Containers are sidecars, which a patch finds among the init containers.
func Sidecars(pod *corev1.Pod) int { return len(Containers(pod)) - len(pod.Spec.Containers) }

// UnderWay says whether the kubelet has a resize of the pod before it.
func UnderWay(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return (c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress) && c.Status == corev1.ConditionTrue
	})
}

// Supported says whether the pod's node can resize it: such a kubelet reports the resources of running containers, and the API server
// refuses the resize of pods without them.
func Supported(pod *corev1.Pod) bool {
	for i := range pod.Status.ContainerStatuses {
		if status := &pod.Status.ContainerStatuses[i]; status.State.Running != nil {
			return status.Resources != nil
		}
	}
	return true
}

// Restarts says whether a container restarts when a resource of it is changed.
func Restarts(c *corev1.Container, name corev1.ResourceName) bool {
	return slices.ContainsFunc(c.ResizePolicy, func(p corev1.ContainerResizePolicy) bool {
		return p.ResourceName == name && p.RestartPolicy != corev1.NotRequired
	})
}
