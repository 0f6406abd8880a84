package podstate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestEnded(t *testing.T) {
	for phase, want := range map[corev1.PodPhase]string{
		"": "", corev1.PodPending: "", corev1.PodRunning: "", corev1.PodUnknown: "",
		corev1.PodSucceeded: "the pod has succeeded", corev1.PodFailed: "the pod has failed",
	} {
		if got := Ended(&corev1.Pod{Status: corev1.PodStatus{Phase: phase}}); got != want {
			t.Errorf("%q: %q, want %q", phase, got, want)
		}
	}
}
