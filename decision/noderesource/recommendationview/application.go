package recommendationview

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

// application is the plan that the recommender would make at this moment.
func application(in Input, pods []*corev1.Pod, learned recommend.Learned, advised map[string]recommend.Recommendation) diagnosticsv1alpha1.RecommendationApplication {
	out := diagnosticsv1alpha1.RecommendationApplication{
		BudgetSeconds: int64(in.Resizes.Interval.Seconds()), CoolDownSeconds: int64(in.Resizes.CoolDown.Seconds()),
	}
	for _, at := range learned.Applied {
		if out.LastAppliedAt == nil || at.After(out.LastAppliedAt.Time) {
			out.LastAppliedAt = moment(at)
		}
	}
	if in.Unseen == "" && len(pods) > 0 && len(advised) > 0 {
		plan := recommend.Resizes(recommend.ResizeInput{
			At: in.Now, Options: in.Resizes, Pods: pods, Recommendations: advised, Applied: learned.Applied, Autoscalers: in.Autoscalers,
		})
		out.Budget, out.BudgetUsed, out.Pods = int32(plan.Budget), int32(plan.Used), resizes(in, pods, plan, learned)
	}
	asked := in.Recommendation.Annotations[analysisv1alpha1.AnnotationRecommendationApply]
	out.State, out.Message = state(in, pods, len(advised) > 0, asked == analysisv1alpha1.RecommendationApplyInPlace, &out)
	return out
}

// resizes of a plan, and after them the pods that it leaves.
func resizes(in Input, pods []*corev1.Pod, plan recommend.ResizePlan, learned recommend.Learned) []diagnosticsv1alpha1.PodResize {
	var out []diagnosticsv1alpha1.PodResize
	for _, resize := range plan.Resizes {
		each := diagnosticsv1alpha1.PodResize{Name: resize.Pod.Name}
		for _, c := range resize.Containers {
			each.Containers = append(each.Containers, diagnosticsv1alpha1.ContainerResize{Name: c.Name, Requests: c.Requests, Limits: c.Limits})
		}
		out = append(out, each)
	}
	for _, skip := range plan.Skipped {
		each := diagnosticsv1alpha1.PodResize{Name: skip.Pod.Name, Reason: skip.Reason}
		switch skip.Reason {
		case recommend.SkipCoolDown:
			each.Until = moment(learned.Applied[skip.Pod.UID].Add(in.Resizes.CoolDown))
		case recommend.SkipBudget:
			each.Until = budgetUntil(in, pods, learned)
		}
		out = append(out, each)
	}
	return out
}

// budgetUntil is when the first resize that uses up the budget stops to count; nil when none is dated. Those of pods that are
// gone use up nothing.
func budgetUntil(in Input, pods []*corev1.Pod, learned recommend.Learned) *metav1.Time {
	var first *time.Time
	for _, pod := range pods {
		at, resized := learned.Applied[pod.UID]
		if resized && in.Now.Sub(at) < in.Resizes.Interval && (first == nil || at.Before(*first)) {
			first = &at
		}
	}
	if first == nil {
		return nil
	}
	return moment(first.Add(in.Resizes.Interval))
}

// state in a word, and in one sentence.
func state(in Input, pods []*corev1.Pod, advised, asked bool, out *diagnosticsv1alpha1.RecommendationApplication) (diagnosticsv1alpha1.ApplicationState, string) {
	due := 0
	held := map[string]int{}
	for i := range out.Pods {
		if out.Pods[i].Reason == "" {
			due++
		} else {
			held[out.Pods[i].Reason]++
		}
	}
	would := fmt.Sprintf("%s would be resized", phrase.Counted(due, "pod"))
	switch {
	case !asked:
		message := "annotation " + analysisv1alpha1.AnnotationRecommendationApply + " is not " + analysisv1alpha1.RecommendationApplyInPlace
		if due > 0 {
			message += "; " + would
		}
		return diagnosticsv1alpha1.ApplicationOff, message + rest(held)
	case in.Unseen != "":
		return diagnosticsv1alpha1.ApplicationUnknown, "the pods of the target could not be seen"
	case len(pods) == 0:
		return diagnosticsv1alpha1.ApplicationUnknown, "no pod of the target is bound to a node"
	case !advised:
		return diagnosticsv1alpha1.ApplicationUnknown, "there is nothing to apply yet"
	case due > 0:
		return diagnosticsv1alpha1.ApplicationDue, would + " within a minute, if koord-manager runs with --recommender-apply" + rest(held)
	case len(held) > 0:
		return diagnosticsv1alpha1.ApplicationBlocked, "no pod is resized" + rest(held)
	}
	return diagnosticsv1alpha1.ApplicationSettled, "the requests of all pods are within the bounds"
}

// rest says why pods are left as they are.
func rest(held map[string]int) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(held)) {
		parts = append(parts, fmt.Sprintf("%s: %s", phrase.Counted(held[reason], "pod"), reason))
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, "; ")
}
