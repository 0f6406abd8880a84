package reason

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/kubectl"
	"koordinator.sh/koord/decision/scheduling/reservation"
)

// Called names a pod for people: "pod shop/web-1", or "reservation nightly" for the pod that stands for one.
func Called(pod *corev1.Pod) string {
	if reservation.IsReservePod(pod) {
		return "reservation " + reservation.NameOf(pod)
	}
	return fmt.Sprintf("pod %s/%s", pod.Namespace, pod.Name)
}

// Eviction is what takes a pod off its node: a reservation ends with its room.
func Eviction(pod *corev1.Pod) diagnosticsv1alpha1.FixStep {
	if reservation.IsReservePod(pod) {
		return kubectl.Delete(kubectl.Reservation(reservation.NameOf(pod)))
	}
	return kubectl.Delete(kubectl.Pod(pod.Namespace, pod.Name))
}

// Mention refers to a pod, or to the reservation that it stands for.
func Mention(pod *corev1.Pod) diagnosticsv1alpha1.SourceRef {
	if reservation.IsReservePod(pod) {
		return diagnosticsv1alpha1.SourceRef{Kind: "Reservation", Name: reservation.NameOf(pod)}
	}
	return diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}
}
