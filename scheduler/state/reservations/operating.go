package reservations

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// emptied returns an operating-mode pod as it stands on its node: itself, or without requests and allocations once another
// pod uses what it holds.
func emptied(pod *corev1.Pod, used bool) *corev1.Pod {
	if !used {
		return pod
	}
	empty := pod.DeepCopy()
	empty.Spec.Overhead, empty.Spec.Resources, empty.Spec.InitContainers = nil, nil, nil
	for i := range empty.Spec.Containers {
		empty.Spec.Containers[i].Resources = corev1.ResourceRequirements{}
	}
	for i := range empty.Status.ContainerStatuses {
		empty.Status.ContainerStatuses[i].Resources, empty.Status.ContainerStatuses[i].AllocatedResources = nil, nil
	}
	delete(empty.Annotations, extension.AnnotationResourceStatus)
	delete(empty.Annotations, extension.AnnotationDeviceAllocated)
	return empty
}

// Showing calls show with a pod as it is to be put into the scheduler's cache, while nothing changes about it: an operating-mode
// pod that is used requests nothing, every other pod is itself.
func (s *State) Showing(pod *corev1.Pod, show func(*corev1.Pod)) {
	if !extension.IsReservationOperatingMode(pod.Labels) || pod.Spec.NodeName == "" {
		show(pod)
		return
	}
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	used := false
	for _, u := range s.users[pod.UID] {
		used = used || u.node == pod.Spec.NodeName
	}
	show(emptied(pod, used))
}
