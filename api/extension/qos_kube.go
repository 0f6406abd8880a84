package extension

import (
	corev1 "k8s.io/api/core/v1"
)

// KubeQOSClass returns the Kubernetes QoS class of a pod: the one in its status, or the one its resources give.
// Only cpu and memory count; resources of the whole pod win over those of its containers.
func KubeQOSClass(pod *corev1.Pod) corev1.PodQOSClass {
	if pod.Status.QOSClass != "" {
		return pod.Status.QOSClass
	}
	if pod.Spec.Resources != nil {
		return kubeQOSOf([]corev1.ResourceRequirements{*pod.Spec.Resources})
	}
	var all []corev1.ResourceRequirements
	for i := range pod.Spec.InitContainers {
		all = append(all, pod.Spec.InitContainers[i].Resources)
	}
	for i := range pod.Spec.Containers {
		all = append(all, pod.Spec.Containers[i].Resources)
	}
	return kubeQOSOf(all)
}

func kubeQOSOf(all []corev1.ResourceRequirements) corev1.PodQOSClass {
	guaranteed, empty := true, true
	for _, resources := range all {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, request := resources.Limits[name], resources.Requests[name]
			if limit.Sign() > 0 || request.Sign() > 0 {
				empty = false
			}
			if limit.Sign() <= 0 || (request.Sign() > 0 && request.Cmp(limit) != 0) {
				guaranteed = false
			}
		}
	}
	switch {
	case empty:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}
