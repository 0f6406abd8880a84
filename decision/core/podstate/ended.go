package podstate

import corev1 "k8s.io/api/core/v1"

// Ended reports whether a pod has ended: its containers run no more, and it holds nothing of its node.
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Ending says how a pod has ended; empty while it has not.
func Ending(pod *corev1.Pod) string {
	switch pod.Status.Phase {
	case corev1.PodSucceeded:
		return "the pod has succeeded"
	case corev1.PodFailed:
		return "the pod has failed"
	default:
		return ""
	}
}
