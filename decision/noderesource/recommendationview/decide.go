package recommendationview

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

// Explain answers of one Recommendation.
func Explain(in Input) diagnosticsv1alpha1.RecommendationExplanation {
	r := in.Recommendation
	out := diagnosticsv1alpha1.RecommendationExplanation{
		ObjectMeta: metav1.ObjectMeta{Name: r.Name, Namespace: r.Namespace, Labels: r.Labels, CreationTimestamp: r.CreationTimestamp},
		Target:     targetName(&r.Spec.Target), UpdatedAt: r.Status.UpdateTime.DeepCopy(),
	}
	pods := PodsOf(r, in.Pods)
	out.Notes = notes(in, pods)
	if in.Unseen == "" {
		out.Pods = new(int32(len(pods)))
	} else {
		out.Incomplete = append(out.Incomplete, in.Unseen)
	}
	out.Incomplete = append(out.Incomplete, in.AutoscalersUnseen...)
	learned, errs := recommend.ReadCheckpoint(r)
	for _, err := range errs {
		out.Incomplete = append(out.Incomplete, err.Error())
	}
	switch {
	case r.Status.UpdateTime == nil:
	case r.Status.Checkpoint == nil:
		out.Incomplete = append(out.Incomplete, "status.checkpoint is missing, so what was learned is not known: the cluster's definition of Recommendations drops it")
	case r.Status.Checkpoint.ObservedGeneration != r.Generation:
		out.Notes = append(out.Notes, "the figures are from an earlier spec; the recommender starts over at its next reconciliation")
	}
	advised := learned.Advise(in.Options, recommend.PerPod(pods), in.Now)
	out.Containers = containers(in, pods, learned)
	out.Application = application(in, pods, learned, advised)
	return out
}

// PodsOf are those pods of a Recommendation's namespace that belong to its target, are bound to a node and do not go, by name. A
// selector that cannot be read selects none.
func PodsOf(r *analysisv1alpha1.Recommendation, pods []*corev1.Pod) []*corev1.Pod {
	workload, byWorkload := recommend.WorkloadOf(&r.Spec.Target)
	selector := labels.Nothing()
	if !byWorkload {
		if parsed, err := metav1.LabelSelectorAsSelector(r.Spec.Target.PodSelector); err == nil {
			selector = parsed
		}
	}
	var out []*corev1.Pod
	for _, pod := range pods {
		if pod.Namespace != r.Namespace || pod.DeletionTimestamp != nil || pod.Spec.NodeName == "" {
			continue
		}
		if byWorkload && slices.Contains(recommend.WorkloadsOf(pod), workload) || selector.Matches(labels.Set(pod.Labels)) {
			out = append(out, pod)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func targetName(target *analysisv1alpha1.RecommendationTarget) string {
	if workload, is := recommend.WorkloadOf(target); is {
		return workload.Kind + "/" + workload.Name
	}
	if target.PodSelector == nil {
		return "no pods"
	}
	return "pods " + metav1.FormatLabelSelector(target.PodSelector)
}

// notes are the conditions that hold. What is left to autoscalers is told by these themselves, where all of them are known.
func notes(in Input, pods []*corev1.Pod) []string {
	var out []string
	seen := in.Unseen == "" && len(in.AutoscalersUnseen) == 0
	for _, condition := range in.Recommendation.Status.Conditions {
		if condition.Status == metav1.ConditionTrue && !(seen && condition.Type == analysisv1alpha1.RecommendationConditionAutoscaled) {
			out = append(out, note(condition.Type, condition.Message))
		}
	}
	if left := in.Autoscalers.Holds(pods); seen && len(left) > 0 {
		out = append(out, note(analysisv1alpha1.RecommendationConditionAutoscaled, recommend.HoldsMessage(left)))
	}
	return out
}

func note(kind, message string) string { return fmt.Sprintf("%s: %s", kind, message) }
