package podstate

import corev1 "k8s.io/api/core/v1"

// Ready reports whether a pod says that it is ready, as kubelet judges it. One that is being deleted may say so.
func Ready(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
