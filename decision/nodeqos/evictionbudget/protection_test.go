package evictionbudget

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// budgetOf is a counted PodDisruptionBudget of pods with a label.
func budgetOf(name, app string, allowed int32) policyv1.PodDisruptionBudget {
	return policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Generation: 2},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
		Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 2, DisruptionsAllowed: allowed},
	}
}

func TestProtection(t *testing.T) {
	running := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Labels: map[string]string{"app": "web"}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionTrue},
		}},
	}
	changed := func(change func(*corev1.Pod)) *corev1.Pod {
		pod := running.DeepCopy()
		change(pod)
		return pod
	}
	none, some := budgetOf("none", "web", 0), budgetOf("some", "web", 1)
	elsewhere, uncounted, ofNobody, ofAll := none, some, none, none
	elsewhere.Namespace = "other"
	uncounted.Generation = 3
	ofNobody.Spec.Selector = nil
	ofAll.Spec.Selector = &metav1.LabelSelector{}
	for name, test := range map[string]struct {
		pod     *corev1.Pod
		budgets []policyv1.PodDisruptionBudget
		want    string
	}{
		"no budget":                            {running, nil, ""},
		"a budget that allows a disruption":    {running, []policyv1.PodDisruptionBudget{some}, ""},
		"a budget that allows none":            {running, []policyv1.PodDisruptionBudget{none}, "PodDisruptionBudget none allows no disruption now"},
		"a budget below what it wants":         {running, []policyv1.PodDisruptionBudget{budgetOf("none", "web", -1)}, "PodDisruptionBudget none allows no disruption now"},
		"a budget of all pods":                 {running, []policyv1.PodDisruptionBudget{ofAll}, "PodDisruptionBudget none allows no disruption now"},
		"a budget of other pods":               {running, []policyv1.PodDisruptionBudget{budgetOf("none", "db", 0)}, ""},
		"a budget without selector":            {running, []policyv1.PodDisruptionBudget{ofNobody}, ""},
		"a budget of another namespace":        {running, []policyv1.PodDisruptionBudget{elsewhere}, ""},
		"a budget that was just changed":       {running, []policyv1.PodDisruptionBudget{uncounted}, "PodDisruptionBudget some was changed and has not been counted since"},
		"two budgets, whatever they allow":     {running, []policyv1.PodDisruptionBudget{some, none}, "more than one PodDisruptionBudget covers it, some and none among them"},
		"a pod that is not ready":              {changed(func(p *corev1.Pod) { p.Status.Conditions[1].Status = corev1.ConditionFalse }), []policyv1.PodDisruptionBudget{none}, ""},
		"a pod of which nothing is said":       {changed(func(p *corev1.Pod) { p.Status.Conditions = nil }), []policyv1.PodDisruptionBudget{none}, ""},
		"a pod that has ended":                 {changed(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), []policyv1.PodDisruptionBudget{none}, ""},
		"a pod that is deleted as it is asked": {changed(func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }), []policyv1.PodDisruptionBudget{none}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Protection(test.pod, test.budgets); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
