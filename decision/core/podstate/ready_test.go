package podstate

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestReady(t *testing.T) {
	for name, tc := range map[string]struct {
		conditions []corev1.PodCondition
		want       bool
	}{
		"nothing is known":         {},
		"scheduled and ready":      {[]corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionTrue}}, true},
		"only its containers are":  {[]corev1.PodCondition{{Type: corev1.ContainersReady, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionFalse}}, false},
		"its node does not answer": {[]corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionUnknown}}, false},
	} {
		if got := Ready(&corev1.Pod{Status: corev1.PodStatus{Conditions: tc.conditions}}); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}
