package reason

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/reservation"
)

// Called names a pod for people: "pod shop/web-1", or "reservation nightly" for the pod that stands for one.
func Called(pod *corev1.Pod) string {
	if reservation.IsReservePod(pod) {
		return "reservation " + reservation.NameOf(pod)
	}
	return fmt.Sprintf("pod %s/%s", pod.Namespace, pod.Name)
}

// EvictCommand is what takes a pod off its node: a reservation ends with its room.
func EvictCommand(pod *corev1.Pod) string {
	if reservation.IsReservePod(pod) {
		return "kubectl delete reservation " + reservation.NameOf(pod)
	}
	return fmt.Sprintf("kubectl delete pod -n %s %s", pod.Namespace, pod.Name)
}
