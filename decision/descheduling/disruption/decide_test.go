package disruption

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestRefusal(t *testing.T) {
	pod := func(phase corev1.PodPhase, ready corev1.ConditionStatus) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", Labels: map[string]string{"app": "web"}},
			Status:     corev1.PodStatus{Phase: phase, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
		}
	}
	budget := func(allowed, healthy, desired int32, edits ...func(*policyv1.PodDisruptionBudget)) policyv1.PodDisruptionBudget {
		b := policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
			Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed, CurrentHealthy: healthy, DesiredHealthy: desired},
		}
		for _, edit := range edits {
			edit(&b)
		}
		return b
	}
	running, unready := pod(corev1.PodRunning, corev1.ConditionTrue), pod(corev1.PodRunning, corev1.ConditionFalse)
	always := func(b *policyv1.PodDisruptionBudget) { b.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow) }
	tests := map[string]struct {
		pod     *corev1.Pod
		budgets []policyv1.PodDisruptionBudget
		want    string
	}{
		"no budget":             {running, nil, ""},
		"a budget with room":    {running, []policyv1.PodDisruptionBudget{budget(1, 3, 2)}, ""},
		"a budget without room": {running, []policyv1.PodDisruptionBudget{budget(0, 2, 2)}, "needs 2 healthy pods and has 2"},
		"two budgets": {
			running, []policyv1.PodDisruptionBudget{budget(1, 3, 2), budget(1, 3, 2, func(b *policyv1.PodDisruptionBudget) { b.Name = "all" })}, "supports one: all, web",
		},
		"a changed budget":                     {running, []policyv1.PodDisruptionBudget{budget(1, 3, 2, func(b *policyv1.PodDisruptionBudget) { b.Generation = 1 })}, "not processed"},
		"a budget of another namespace":        {running, []policyv1.PodDisruptionBudget{budget(0, 2, 2, func(b *policyv1.PodDisruptionBudget) { b.Namespace = "else" })}, ""},
		"a budget of other pods":               {running, []policyv1.PodDisruptionBudget{budget(0, 2, 2, func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector.MatchLabels["app"] = "db" })}, ""},
		"a pending pod":                        {pod(corev1.PodPending, corev1.ConditionFalse), []policyv1.PodDisruptionBudget{budget(0, 2, 2)}, ""},
		"an unready pod of a healthy workload": {unready, []policyv1.PodDisruptionBudget{budget(0, 2, 2)}, ""},
		"an unready pod of an unhealthy one":   {unready, []policyv1.PodDisruptionBudget{budget(0, 1, 2)}, "needs 2 healthy pods and has 1"},
		"an unready pod that may always go":    {unready, []policyv1.PodDisruptionBudget{budget(0, 1, 2, always)}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Refusal(tt.pod, Selecting(tt.pod, tt.budgets))
			if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("refused because of %q, want %q", got, tt.want)
			}
		})
	}
}
