package explain

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	decision "koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
	"koordinator.sh/koord/scheduler/reason"
	"koordinator.sh/koord/scheduler/recovery"
)

// subject is what a refusal is about on one node, found by looking at the same objects the plugin looked at.
type subject struct {
	// code when the plugin itself names it.
	code finding.Code
	// key tells refusals with the same text apart, such as two taints.
	key string
	// phrase says it in a summary, after the number of nodes: "had insufficient batch-cpu". The reason itself is one, too.
	phrase string
	// distance orders nodes by how far they are from passing: 0 for nearly, 1 and more for far.
	distance float64
	// mentions are the objects that reason and message name, beside the pod and the node.
	mentions []diagnosticsv1alpha1.SourceRef
	// reasonMentions are those that the reason names; none where it names all of them.
	reasonMentions []diagnosticsv1alpha1.SourceRef
	// describe makes the message and the operands. It is called for the few nodes that are listed.
	describe func() (string, []diagnosticsv1alpha1.Term)
}

// text is a subject without operands.
func text(key, phrase, message string) subject {
	return subject{key: key, phrase: phrase, distance: 1, describe: func() (string, []diagnosticsv1alpha1.Term) { return message, nil }}
}

// subjectOf is what a plugin tells.
func subjectOf(told reason.Subject) subject {
	return subject{
		code: told.Code, key: told.Key, phrase: told.Phrase, distance: told.Distance,
		mentions: told.Mentions, reasonMentions: told.ReasonMentions, describe: told.Describe,
	}
}

// inspect looks at what refuses the node. What it does not know keeps the plugin's own text.
func (s *simulation) inspect(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, r refusal) subject {
	if recovery.Is(r.reason) { // asked again, the plugin would panic again
		return text("", r.reason, r.reason)
	}
	for _, explainer := range s.explainersOf(r.plugin) {
		if told, ok := explainer.ExplainRefusal(ctx, state, pod, info, r.reason); ok {
			return subjectOf(told)
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
	case decision.PluginName:
		return s.inspectLoad(pod, node, r)
	}
	return text("", r.reason, r.reason)
}

// explainersOf lists who may know the refusals of a plugin: itself, and for NodeNUMAResource the plugins whose hints it
// merges, because it hands on their refusals.
func (s *simulation) explainersOf(plugin string) []reason.Explainer {
	var list []reason.Explainer
	if own := s.explainers[plugin]; own != nil {
		list = append(list, own)
	}
	if plugin == nodenumaresource.Name {
		list = append(list, s.hinting...)
	}
	return list
}

// inspectLoad repeats the load-aware decision with a trace.
func (s *simulation) inspectLoad(pod *corev1.Pod, node *corev1.Node, r refusal) subject {
	if s.load == nil {
		return text("", r.reason, r.reason)
	}
	verdict, trace := s.load.Explain(pod, node)
	if verdict.Passed() { // only a moment has passed, but it can have been the one that counted
		return text("", r.reason, r.reason)
	}
	found := subject{
		distance: 1,
		describe: func() (string, []diagnosticsv1alpha1.Term) { return trace.Message(verdict), trace.Operands(verdict) },
	}
	switch verdict.Code {
	case finding.LoadMetricExpired:
		found.phrase = "had an expired NodeMetric"
	case finding.LoadAggregatedExceeded:
		found.phrase, found.distance = fmt.Sprintf("had aggregated %s usage above %d%%", verdict.Resource, verdict.Threshold), overshoot(verdict)
	default:
		found.phrase, found.distance = fmt.Sprintf("had %s usage above %d%%", verdict.Resource, verdict.Threshold), overshoot(verdict)
	}
	return found
}

func overshoot(verdict decision.Verdict) float64 {
	return float64(verdict.Percent-verdict.Threshold) / 100
}

// inspectPorts names the first port that is taken.
func inspectPorts(pod *corev1.Pod, info fwk.NodeInfo, r refusal) subject {
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
