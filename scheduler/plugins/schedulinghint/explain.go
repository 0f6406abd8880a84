package schedulinghint

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/schedulinghint"
	"koordinator.sh/koord/scheduler/reason"
)

const (
	// costOfHint is that of an edit of the pod.
	costOfHint = 3
	// namedNodes bounds the nodes that a message names.
	namedNodes = 3
)

var (
	_ reason.Explainer = &Plugin{}
	_ reason.Adviser   = &Plugin{}
)

// ExplainRefusal implements reason.Explainer.
func (p *Plugin) ExplainRefusal(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ fwk.NodeInfo, _ string) (reason.Subject, bool) {
	hint, err := schedulinghint.Parse(pod.Annotations, p.limit)
	code, phrase, message := finding.SchedulingHintMismatch, "not in the pod's scheduling hint", ""
	switch {
	case err != nil:
		code, phrase, message = finding.SchedulingHintInvalid, "not looked at, because the pod's scheduling hint is invalid", err.Error()
	case hint.Only == nil:
		return reason.Subject{}, false
	default:
		message = "the scheduling hint restricts the pod to " + listed(hint.Only)
	}
	return reason.Subject{
		Code: code, Phrase: phrase, Distance: 1,
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return message, nil },
	}, true
}

func listed(nodes sets.Set[string]) string {
	names := sets.List(nodes)
	if len(names) <= namedNodes {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more nodes", strings.Join(names[:namedNodes], ", "), len(names)-namedNodes)
}

// Advise implements reason.Adviser: without its hint the pod may go anywhere.
func (p *Plugin) Advise(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, _ []string) []reason.Change {
	edited := pod.DeepCopy()
	commands := []string{}
	for _, key := range []string{extension.AnnotationSchedulingHint, extension.DeprecatedAnnotationSchedulingHint} {
		if _, found := edited.Annotations[key]; found {
			delete(edited.Annotations, key)
			commands = append(commands, key+"-")
		}
	}
	return []reason.Change{{
		Cost: costOfHint, Pod: edited,
		Fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixPod, Kind: "removeSchedulingHint", Node: info.Node().Name,
			Description: "remove the pod's scheduling hint",
			Command:     fmt.Sprintf("kubectl annotate pod -n %s %s %s", pod.Namespace, pod.Name, strings.Join(commands, " ")),
		},
	}}
}
