package disruption

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Selecting are the PodDisruptionBudgets that select a pod, by name.
func Selecting(pod *corev1.Pod, budgets []policyv1.PodDisruptionBudget) []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	for i := range budgets {
		selector, err := metav1.LabelSelectorAsSelector(budgets[i].Spec.Selector)
		if err == nil && budgets[i].Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels)) {
			out = append(out, &budgets[i])
		}
	}
	slices.SortFunc(out, func(a, b *policyv1.PodDisruptionBudget) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Exempt reports whether a pod is evicted whatever the budgets say: it does not run, or is being deleted.
func Exempt(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.DeletionTimestamp != nil
}

// Free reports whether the eviction of a pod does not count against its only budget: the pod is exempt, or it is not ready and the
// budget lets such pods go.
func Free(pod *corev1.Pod, budget *policyv1.PodDisruptionBudget) bool {
	if Exempt(pod) {
		return true
	}
	if ready(pod) {
		return false
	}
	policy, status := budget.Spec.UnhealthyPodEvictionPolicy, budget.Status
	return policy != nil && *policy == policyv1.AlwaysAllow || status.DesiredHealthy > 0 && status.CurrentHealthy >= status.DesiredHealthy
}

// Ambiguous says why the eviction API refuses a pod that more than one budget selects; empty when at most one does.
func Ambiguous(budgets []*policyv1.PodDisruptionBudget) string {
	if len(budgets) < 2 {
		return ""
	}
	return fmt.Sprintf("%d PodDisruptionBudgets select the pod, and the eviction API supports one: %s, %s", len(budgets), budgets[0].Name, budgets[1].Name)
}

// Unprocessed says why a budget that was changed allows nothing yet; empty when its status is current.
func Unprocessed(budget *policyv1.PodDisruptionBudget) string {
	if budget.Status.ObservedGeneration < budget.Generation {
		return fmt.Sprintf("PodDisruptionBudget %s was changed, and the change is not processed yet", budget.Name)
	}
	return ""
}

// Refusal is why the eviction API refuses a pod now, because of the budgets that select it; empty when it does not.
func Refusal(pod *corev1.Pod, budgets []*policyv1.PodDisruptionBudget) string {
	if Exempt(pod) || len(budgets) == 0 {
		return ""
	}
	if refused := Ambiguous(budgets); refused != "" {
		return refused
	}
	budget := budgets[0]
	if Free(pod, budget) {
		return ""
	}
	if refused := Unprocessed(budget); refused != "" {
		return refused
	}
	if status := budget.Status; status.DisruptionsAllowed <= 0 {
		return fmt.Sprintf("PodDisruptionBudget %s allows no disruption: it needs %d healthy pods and has %d", budget.Name, status.DesiredHealthy, status.CurrentHealthy)
	}
	return ""
}

func ready(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
