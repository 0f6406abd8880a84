package explain

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

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
	for name := range s.speakersOf(r.plugin) {
		if explainer := s.explainers[name]; explainer != nil {
			if subject, ok := explainer.ExplainRefusal(ctx, state, pod, info, r.reason); ok {
				return subject
			}
		}
	}
	if found, ok := inspectNode(pod, info, r); ok {
		return subjectOf(found)
	}
	return text("", r.reason, r.reason)
}
