package podstate

import corev1 "k8s.io/api/core/v1"

// Ended says how a pod has ended; empty while it has not.
func Ended(pod *corev1.Pod) string {
	switch pod.Status.Phase {
	case corev1.PodSucceeded:
		return "the pod has succeeded"
	case corev1.PodFailed:
		return "the pod has failed"
	default:
		return ""
	}
}
