package evictionbudget

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/decision/core/podstate"
)

// Protection is why the API server refuses to evict a pod because of the PodDisruptionBudgets of its namespace; empty when it may admit
// that. A pod that does not run or is not ready may be evicted whatever the budgets say, so nothing is said of it.
func Protection(pod *corev1.Pod, budgets []policyv1.PodDisruptionBudget) string {
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning || !podstate.Ready(pod) {
		return ""
	}
	var covering []*policyv1.PodDisruptionBudget
	for i := range budgets {
		if covers(&budgets[i], pod) {
			covering = append(covering, &budgets[i])
		}
	}
	switch {
	case len(covering) == 0:
		return ""
	case len(covering) > 1:
		return fmt.Sprintf("more than one PodDisruptionBudget covers it, %s and %s among them", covering[0].Name, covering[1].Name)
	case covering[0].Status.ObservedGeneration < covering[0].Generation:
		return fmt.Sprintf("PodDisruptionBudget %s was changed and has not been counted since", covering[0].Name)
	case covering[0].Status.DisruptionsAllowed <= 0:
		return fmt.Sprintf("PodDisruptionBudget %s allows no disruption now", covering[0].Name)
	}
	return ""
}

func covers(budget *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	if budget.Namespace != pod.Namespace {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}
