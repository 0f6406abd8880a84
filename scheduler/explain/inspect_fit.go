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

// insufficient repeats the comparison of NodeResourcesFit.
func insufficient(pod *corev1.Pod, info fwk.NodeInfo) []noderesources.InsufficientResource {
	return noderesources.Fits(pod, info, nil, noderesources.ResourceRequestsOptions{
		EnablePodLevelResources: utilfeature.DefaultFeatureGate.Enabled(features.PodLevelResources),
	})
}

func shortageOn(node string, of *noderesources.InsufficientResource) nodefit.Shortage {
	return nodefit.Shortage{Node: node, Resource: of.ResourceName, Asked: of.Requested, Requested: of.Used, Allocatable: of.Capacity}
}

// shortages are what NodeResourcesFit refuses a node for.
func shortages(pod *corev1.Pod, info fwk.NodeInfo) []nodefit.Shortage {
	found := insufficient(pod, info)
	list := make([]nodefit.Shortage, len(found))
	for i := range found {
		list[i] = shortageOn(info.Node().Name, &found[i])
	}
	return list
}

// shortageOf finds the shortage that a refusal names.
func shortageOf(pod *corev1.Pod, info fwk.NodeInfo, reason string) (nodefit.Shortage, bool) {
	found := insufficient(pod, info)
	i := slices.IndexFunc(found, func(of noderesources.InsufficientResource) bool { return of.Reason == reason })
	if i < 0 {
		return nodefit.Shortage{}, false
	}
	return shortageOn(info.Node().Name, &found[i]), true
}
