package explain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper"

	"koordinator.sh/koord/scheduler/reason"
)

// untolerated lists the taints that keep the pod off the node.
func untolerated(ctx context.Context, pod *corev1.Pod, node *corev1.Node) []corev1.Taint {
	comparison := utilfeature.DefaultFeatureGate.Enabled(features.TaintTolerationComparisonOperators)
	counts := helper.DoNotScheduleTaintsFilterFunc()
	var taints []corev1.Taint
	for _, taint := range node.Spec.Taints {
		if counts(&taint) && !corev1helpers.TolerationsTolerateTaint(klog.FromContext(ctx), pod.Spec.Tolerations, &taint, comparison) {
			taints = append(taints, taint)
		}
	}
	return taints
}

func inspectTaint(ctx context.Context, pod *corev1.Pod, node *corev1.Node, r refusal) reason.Subject {
	taints := untolerated(ctx, pod, node)
	if len(taints) == 0 {
		return text("", r.reason, r.reason)
	}
	first := taints[0].ToString()
	found := text(first, "had untolerated taint "+first, "taint "+first+" is not tolerated")
	if len(taints) > 1 {
		found = text(first, "had untolerated taint "+first, fmt.Sprintf("taint %s and %d more are not tolerated", first, len(taints)-1))
		found.Distance = float64(len(taints))
	}
	return found
}

// inspectAffinity names the first selector or term that the node does not match.
func inspectAffinity(pod *corev1.Pod, node *corev1.Node, r refusal) reason.Subject {
	for _, key := range slices.Sorted(maps.Keys(pod.Spec.NodeSelector)) {
		if want := pod.Spec.NodeSelector[key]; node.Labels[key] != want {
			asked := fmt.Sprintf("node selector %s=%s", key, want)
			return text(asked, "didn't match "+asked, fmt.Sprintf("%s, the node has %s", asked, labelOf(node, key)))
		}
	}
	required := requiredAffinity(pod)
	if required == nil {
		return text("", r.reason, r.reason)
	}
	for _, term := range required.NodeSelectorTerms {
		for _, requirement := range term.MatchExpressions {
			if !matchesRequirement(node, requirement) {
				asked := requirementText(requirement)
				return text(asked, "didn't match node affinity "+asked, fmt.Sprintf("node affinity %s, the node has %s", asked, labelOf(node, requirement.Key)))
			}
		}
	}
	return text("", "didn't match the pod's node affinity", "the node does not match the node affinity")
}

func requiredAffinity(pod *corev1.Pod) *corev1.NodeSelector {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return nil
	}
	return pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

func matchesRequirement(node *corev1.Node, requirement corev1.NodeSelectorRequirement) bool {
	selector := nodeaffinity.NewLazyErrorNodeSelector(&corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{requirement}}},
	})
	matched, err := selector.Match(node)
	return err == nil && matched
}

func requirementText(requirement corev1.NodeSelectorRequirement) string {
	if len(requirement.Values) == 0 {
		return fmt.Sprintf("%s %s", requirement.Key, requirement.Operator)
	}
	return fmt.Sprintf("%s %s [%s]", requirement.Key, requirement.Operator, strings.Join(requirement.Values, " "))
}

func labelOf(node *corev1.Node, key string) string {
	if value, found := node.Labels[key]; found {
		return key + "=" + value
	}
	return "no such label"
}
