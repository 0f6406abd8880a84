package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"

	"koordinator.sh/koord/decision/scheduling/nodefit"
	"koordinator.sh/koord/decision/scheduling/refusals"
	"koordinator.sh/koord/scheduler/reason"
)

// inspectNode says what a refusal of a plugin of Kubernetes is about; false where the node shows no reason for it.
func inspectNode(pod *corev1.Pod, info fwk.NodeInfo, r refusal) (refusals.Refusal, bool) {
	node := info.Node()
	switch r.plugin {
	case nodefit.NodeResourcesFit:
		shortage, found := shortageOf(pod, info, r.reason)
		return shortage.Refusal(), found
	case nodefit.TaintToleration:
		return nodefit.Taints(pod, node, comparesTolerations())
	case nodefit.NodeAffinity:
		return nodefit.Affinity(pod, node), true
	case nodefit.NodeUnschedulable:
		return nodefit.Cordon(pod, node)
	case nodefit.NodeName:
		return nodefit.OtherNode(pod), true
	case nodefit.NodePorts:
		return nodefit.Ports(pod, podsOf(info))
	}
	return refusals.Refusal{}, false
}

// subjectOf is a refusal of a plugin of Kubernetes.
func subjectOf(of refusals.Refusal) reason.Subject {
	return reason.Subject{Key: of.Key, Phrase: of.Phrase, Distance: of.Distance, Describe: of.Describe}
}

func podsOf(info fwk.NodeInfo) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(info.GetPods()))
	for i, pod := range info.GetPods() {
		pods[i] = pod.GetPod()
	}
	return pods
}

// comparesTolerations is true where tolerations may compare numbers.
func comparesTolerations() bool {
	return utilfeature.DefaultFeatureGate.Enabled(features.TaintTolerationComparisonOperators)
}

// onceForCordon leaves out what TaintToleration says of the taint of a cordon, for which NodeUnschedulable refuses the node.
func onceForCordon(pod *corev1.Pod, node *corev1.Node, list []refusal) []refusal {
	if !node.Spec.Unschedulable || !slices.ContainsFunc(list, func(r refusal) bool { return r.plugin == nodefit.NodeUnschedulable }) {
		return list
	}
	if _, others := nodefit.Taints(pod, node, comparesTolerations()); others {
		return list
	}
	return slices.DeleteFunc(list, func(r refusal) bool { return r.plugin == nodefit.TaintToleration })
}
