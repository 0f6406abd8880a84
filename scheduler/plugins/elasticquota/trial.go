package elasticquota

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/quota"
)

// Remove takes a pod off the node.
func (t *trial) Remove(candidate int) error {
	info := t.candidates[candidate]
	if err := t.node.RemovePod(klog.FromContext(t.ctx), info.GetPod()); err != nil {
		return err
	}
	return t.handle.RunPreFilterExtensionRemovePod(t.ctx, t.state, t.pod, info, t.node).AsError()
}

// Return puts it back.
func (t *trial) Return(candidate int) error {
	t.node.AddPodInfo(t.candidates[candidate])
	return t.handle.RunPreFilterExtensionAddPod(t.ctx, t.state, t.pod, t.candidates[candidate], t.node).AsError()
}

// Fits runs the quota's verdict, then all filters.
func (t *trial) Fits() bool {
	if t.last = t.plugin.Filter(t.ctx, t.state, t.pod, t.node); t.last.IsSuccess() {
		t.last = t.handle.RunFilterPluginsWithNominatedPods(t.ctx, t.state, t.pod, t.node)
	}
	return t.last.IsSuccess()
}

// markBudgeted marks the pods whose eviction would exceed a disruption budget. Where a budget allows some, the first of the
// node's pods count as those.
func markBudgeted(candidates []quota.Candidate, infos []fwk.PodInfo, budgets []*policyv1.PodDisruptionBudget) {
	allowed := make([]int32, len(budgets))
	for i, budget := range budgets {
		allowed[i] = budget.Status.DisruptionsAllowed
	}
	for i, info := range infos {
		for j, budget := range budgets {
			if !covers(budget, info.GetPod()) {
				continue
			}
			allowed[j]--
			candidates[i].Budgeted = candidates[i].Budgeted || allowed[j] < 0
		}
	}
}

func covers(budget *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	if budget.Namespace != pod.Namespace || len(pod.Labels) == 0 {
		return false
	}
	if _, disrupted := budget.Status.DisruptedPods[pod.Name]; disrupted {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	return err == nil && !selector.Empty() && selector.Matches(labels.Set(pod.Labels))
}
