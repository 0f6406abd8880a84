package podstate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestEnding(t *testing.T) {
	for phase, want := range map[corev1.PodPhase]string{
		"": "", corev1.PodPending: "", corev1.PodRunning: "", corev1.PodUnknown: "",
		corev1.PodSucceeded: "the pod has succeeded", corev1.PodFailed: "the pod has failed",
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: phase}}
		if got := Ending(pod); got != want {
			t.Errorf("%q: %q, want %q", phase, got, want)
		}
		if Ended(pod) != (want != "") {
			t.Errorf("%q: ended is %t", phase, Ended(pod))
		}
	}
}
