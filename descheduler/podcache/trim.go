package podcache

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// trim drops from a pod what decides neither whether it is evicted nor where it would run. The rest of a container is its name, image,
// requests, limits and ports; of the volumes those stay that tie a pod to a node or lose their data with it.
func trim(pod *corev1.Pod) {
	pod.ManagedFields, pod.Finalizers = nil, nil
	delete(pod.Annotations, corev1.LastAppliedConfigAnnotation)
	trimSpec(&pod.Spec)
	trimStatus(&pod.Status)
}

func trimSpec(spec *corev1.PodSpec) {
	spec.Volumes = exact(slices.DeleteFunc(spec.Volumes, func(volume corev1.Volume) bool {
		return volume.Projected != nil || volume.Secret != nil || volume.ConfigMap != nil || volume.DownwardAPI != nil
	}))
	spec.Tolerations = exact(spec.Tolerations)
	for i := range spec.InitContainers {
		trimContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		trimContainer(&spec.Containers[i])
	}
	spec.EphemeralContainers = nil
	spec.SecurityContext = nil
	spec.ImagePullSecrets = nil
	spec.HostAliases = nil
	spec.DNSConfig = nil
	spec.ReadinessGates = nil
	spec.EnableServiceLinks = nil
	spec.DeprecatedServiceAccount = ""
}

func trimContainer(container *corev1.Container) {
	*container = corev1.Container{
		Name: container.Name, Image: container.Image, Resources: container.Resources, ResizePolicy: container.ResizePolicy,
		RestartPolicy: container.RestartPolicy, Ports: container.Ports,
	}
}

func trimStatus(status *corev1.PodStatus) {
	status.Conditions = exact(status.Conditions)
	for i := range status.Conditions {
		status.Conditions[i].Message = ""
	}
	for _, statuses := range [][]corev1.ContainerStatus{status.InitContainerStatuses, status.ContainerStatuses, status.EphemeralContainerStatuses} {
		for i := range statuses {
			trimContainerStatus(&statuses[i])
		}
	}
	status.HostIP, status.HostIPs, status.PodIP, status.PodIPs = "", nil, "", nil
}

// trimContainerStatus keeps the states without their messages, and the resources, which a resize in flight decides by.
func trimContainerStatus(status *corev1.ContainerStatus) {
	*status = corev1.ContainerStatus{
		Name: status.Name, State: status.State, LastTerminationState: status.LastTerminationState, Ready: status.Ready,
		RestartCount: status.RestartCount, AllocatedResources: status.AllocatedResources, Resources: status.Resources,
	}
	for _, state := range []corev1.ContainerState{status.State, status.LastTerminationState} {
		if state.Waiting != nil {
			state.Waiting.Message = ""
		}
		if state.Terminated != nil {
			state.Terminated.Message, state.Terminated.ContainerID = "", ""
		}
	}
}

// exact is a slice without the room that decoding has left behind its elements, nil for an empty one.
func exact[T any](elements []T) []T {
	if len(elements) == 0 {
		return nil
	}
	if len(elements) == cap(elements) {
		return elements
	}
	return append(make([]T, 0, len(elements)), elements...)
}
