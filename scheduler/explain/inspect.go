package explain

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/scheduler/reason"
	"koordinator.sh/koord/scheduler/recovery"
)

// text is a subject without operands.
func text(key, phrase, message string) reason.Subject {
	return reason.Subject{Key: key, Phrase: phrase, Distance: 1, Describe: func() (string, []diagnosticsv1alpha1.Term) { return message, nil }}
}

// inspect looks at what refuses the node. What it does not know keeps the plugin's own text.
func (s *simulation) inspect(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, r refusal) reason.Subject {
	if recovery.Is(r.reason) { // asked again, the plugin would panic again
		return text("", r.reason, r.reason)
	}
	for _, explainer := range s.explainersOf(r.plugin) {
		if told, ok := explainer.ExplainRefusal(ctx, state, pod, info, r.reason); ok {
			return told
		}
	}
	node := info.Node()
	switch r.plugin {
	case names.NodeResourcesFit:
		return inspectFit(pod, info, r)
	case names.TaintToleration:
		return inspectTaint(ctx, pod, node, r)
	case names.NodeAffinity:
		return inspectAffinity(pod, node, r)
	case names.NodeUnschedulable:
		return text("", "were cordoned", "the node is cordoned")
	case names.NodeName:
		return text("", "didn't match the pod's node name", fmt.Sprintf("the pod names node %q", pod.Spec.NodeName))
	case names.NodePorts:
		return inspectPorts(pod, info, r)
	}
	return text("", r.reason, r.reason)
}

// explainersOf lists who may know the refusals of a plugin: itself, and those whose refusals it relays.
func (s *simulation) explainersOf(plugin string) []reason.Explainer {
	var list []reason.Explainer
	for _, name := range s.speakersOf(plugin) {
		if explainer := s.explainers[name]; explainer != nil {
			list = append(list, explainer)
		}
	}
	return list
}

// inspectPorts names the first port that is taken.
func inspectPorts(pod *corev1.Pod, info fwk.NodeInfo, r refusal) reason.Subject {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for _, port := range containers[i].Ports {
				if port.HostPort > 0 && info.GetUsedPorts().CheckConflict(port.HostIP, string(port.Protocol), port.HostPort) {
					taken := fmt.Sprintf("%d/%s", port.HostPort, port.Protocol)
					return text(taken, "didn't have host port "+taken+" free", "host port "+taken+" is taken on the node")
				}
			}
		}
	}
	return text("", r.reason, r.reason)
}
