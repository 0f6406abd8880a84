package explain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/scheduler/reason"
)

// shortages repeats the comparison of NodeResourcesFit.
func shortages(pod *corev1.Pod, info fwk.NodeInfo) []noderesources.InsufficientResource {
	return noderesources.Fits(pod, info, nil, noderesources.ResourceRequestsOptions{
		EnablePodLevelResources: utilfeature.DefaultFeatureGate.Enabled(features.PodLevelResources),
	})
}

// shortageOf finds the shortage that a refusal names.
func shortageOf(pod *corev1.Pod, info fwk.NodeInfo, reason string) (noderesources.InsufficientResource, bool) {
	list := shortages(pod, info)
	i := slices.IndexFunc(list, func(s noderesources.InsufficientResource) bool { return s.Reason == reason })
	if i < 0 {
		return noderesources.InsufficientResource{}, false
	}
	return list[i], true
}

func inspectFit(pod *corev1.Pod, info fwk.NodeInfo, r refusal) reason.Subject {
	shortage, found := shortageOf(pod, info, r.reason)
	if !found {
		return text("", r.reason, r.reason)
	}
	node := info.Node().Name
	return reason.Subject{
		Phrase:   fitPhrase(shortage, node),
		Distance: float64(shortage.Requested-free(shortage)) / float64(max(shortage.Requested, 1)),
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return fitMessage(shortage), fitOperands(shortage, node) },
	}
}

// free is what is left on the node, at least nothing: a node may hold more than it has when its resources shrank.
func free(s noderesources.InsufficientResource) int64 { return max(0, s.Capacity-s.Used) }

func fitPhrase(s noderesources.InsufficientResource, node string) string {
	if s.ResourceName == corev1.ResourcePods {
		return fmt.Sprintf("had too many pods (%d on %s)", s.Used, node)
	}
	needs, left := amount.FormatPair(s.ResourceName, s.Requested, free(s))
	return fmt.Sprintf("had insufficient %s (requested %s, at most %s free, on %s)", amount.ShortName(s.ResourceName), needs, left, node)
}

func fitMessage(s noderesources.InsufficientResource) string {
	if s.ResourceName == corev1.ResourcePods {
		return fmt.Sprintf("runs %d of at most %d pods", s.Used, s.Capacity)
	}
	needs, left := amount.FormatPair(s.ResourceName, s.Requested, free(s))
	return fmt.Sprintf("needs %s %s, %s of %s free", needs, amount.ShortName(s.ResourceName), left, amount.Format(s.ResourceName, s.Capacity))
}

func fitOperands(s noderesources.InsufficientResource, node string) []diagnosticsv1alpha1.Term {
	unit, info := amount.UnitOf(s.ResourceName), diagnosticsv1alpha1.Info
	allocatable := &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: node, Field: "status.allocatable." + string(s.ResourceName)}
	return []diagnosticsv1alpha1.Term{
		{Name: "asked", Operator: info, Value: s.Requested, Unit: unit, Note: string(s.ResourceName)},
		{Name: "free", Operator: info, Value: s.Capacity - s.Used, Unit: unit, Note: "allocatable - requested"},
		{Name: "requested", Operator: info, Value: s.Used, Unit: unit, Note: "by the pods on the node"},
		{Name: "allocatable", Operator: info, Value: s.Capacity, Unit: unit, Source: allocatable},
	}
}
