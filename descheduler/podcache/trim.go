package podcache

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// trim drops from a pod what decides neither whether it is evicted nor where it would run. The rest of a container is its name, image,
// requests, limits, ports, and whether it restarts when it is resized; of the volumes those stay that tie a pod to a node or lose their data with it.
//
// What share gives to a pod is not written to: an informer that lists by watching transforms each pod twice, and what the pod got the first
// time are parts of pods that are read from the cache.
func trim(pod *corev1.Pod, keepNormal bool) {
	pod.ManagedFields, pod.Finalizers = nil, nil
	if _, applied := pod.Annotations[corev1.LastAppliedConfigAnnotation]; applied {
		pod.Annotations = maps.Clone(pod.Annotations)
		delete(pod.Annotations, corev1.LastAppliedConfigAnnotation)
	}
	trimSpec(&pod.Spec)
	pod.Status.Conditions = trimConditions(pod.Status.Conditions, keepNormal)
	trimStatus(&pod.Status)
}

func trimSpec(spec *corev1.PodSpec) {
	spec.Volumes = exact(slices.DeleteFunc(spec.Volumes, func(volume corev1.Volume) bool {
		return volume.Projected != nil || volume.Secret != nil || volume.ConfigMap != nil || volume.DownwardAPI != nil
	}))
	spec.Tolerations = exact(spec.Tolerations)
	sortValues(spec.Affinity)
	spec.InitContainers, spec.Containers = trimContainers(spec.InitContainers), trimContainers(spec.Containers)
	spec.EphemeralContainers = nil
	spec.SecurityContext = nil
	spec.ImagePullSecrets = nil
	spec.HostAliases = nil
	spec.DNSConfig = nil
	spec.ReadinessGates = nil
	spec.EnableServiceLinks = nil
	spec.DeprecatedServiceAccount = ""
}

// sortValues sorts the values of required node affinity, which are sets. RemoveDuplicates of upstream sorts them in place, in pods of the
// cache, while share reads them; values that are in order it does not write.
func sortValues(affinity *corev1.Affinity) {
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, requirements := range [][]corev1.NodeSelectorRequirement{term.MatchExpressions, term.MatchFields} {
			for i := range requirements {
				slices.Sort(requirements[i].Values)
			}
		}
	}
}

// trimContainers returns new containers, or those that it was given where nothing is to be dropped.
func trimContainers(containers []corev1.Container) []corev1.Container {
	if len(containers) == 0 {
		return nil
	}
	out := make([]corev1.Container, len(containers))
	for i := range containers {
		c := &containers[i]
		out[i] = corev1.Container{Name: c.Name, Image: c.Image, Resources: c.Resources, ResizePolicy: restarting(c.ResizePolicy), RestartPolicy: c.RestartPolicy, Ports: c.Ports}
	}
	same(&out, containers)
	return out
}

// restarting are the resources for which a container restarts when they are changed. The API server names all others, too.
func restarting(policies []corev1.ContainerResizePolicy) []corev1.ContainerResizePolicy {
	var out []corev1.ContainerResizePolicy
	for _, policy := range policies {
		if policy.RestartPolicy != corev1.NotRequired {
			out = append(out, policy)
		}
	}
	return out
}

func trimStatus(status *corev1.PodStatus) {
	for _, statuses := range []*[]corev1.ContainerStatus{&status.InitContainerStatuses, &status.ContainerStatuses, &status.EphemeralContainerStatuses} {
		*statuses = trimStatuses(*statuses)
	}
	status.HostIP, status.HostIPs, status.PodIP, status.PodIPs = "", nil, "", nil
}

// trimStatuses returns new statuses, or those that it was given where nothing is to be dropped. They keep the states, and the resources,
// which a resize in flight decides by.
func trimStatuses(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	if len(statuses) == 0 {
		return nil
	}
	out := make([]corev1.ContainerStatus, len(statuses))
	for i := range statuses {
		s := &statuses[i]
		out[i] = corev1.ContainerStatus{
			Name: s.Name, State: trimState(s.State), LastTerminationState: trimState(s.LastTerminationState), Ready: s.Ready,
			RestartCount: s.RestartCount, AllocatedResources: s.AllocatedResources, Resources: s.Resources,
		}
	}
	same(&out, statuses)
	return out
}

// isRunning is the state of every container that runs.
var isRunning = &corev1.ContainerStateRunning{}

// trimState drops texts, and since when a container runs: by that alone, the containers of a workload would differ from each other.
func trimState(state corev1.ContainerState) corev1.ContainerState {
	out := corev1.ContainerState{}
	switch {
	case state.Running != nil:
		out.Running = isRunning
	case state.Waiting != nil:
		out.Waiting = &corev1.ContainerStateWaiting{Reason: state.Waiting.Reason}
	case state.Terminated != nil:
		terminated := *state.Terminated
		terminated.Message, terminated.ContainerID = "", ""
		out.Terminated = &terminated
	}
	return out
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
