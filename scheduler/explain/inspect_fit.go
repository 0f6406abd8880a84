package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"

	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// shortages repeats the comparison of NodeResourcesFit.
func shortages(pod *corev1.Pod, info fwk.NodeInfo) []nodefit.Shortage {
	insufficient := noderesources.Fits(pod, info, nil, noderesources.ResourceRequestsOptions{
		EnablePodLevelResources: utilfeature.DefaultFeatureGate.Enabled(features.PodLevelResources),
	})
	list := make([]nodefit.Shortage, len(insufficient))
	for i, of := range insufficient {
		list[i] = nodefit.Shortage{Node: info.Node().Name, Resource: of.ResourceName, Asked: of.Requested, Requested: of.Used, Allocatable: of.Capacity}
	}
	return list
}

// shortageOf finds the shortage that a refusal names.
func shortageOf(pod *corev1.Pod, info fwk.NodeInfo, reason string) (nodefit.Shortage, bool) {
	list := shortages(pod, info)
	i := slices.IndexFunc(list, func(s nodefit.Shortage) bool { return s.Reason() == reason })
	if i < 0 {
		return nodefit.Shortage{}, false
	}
	return list[i], true
}
