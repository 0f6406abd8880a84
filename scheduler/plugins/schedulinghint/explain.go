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
	"koordinator.sh/koord/decision/core/kubectl"
	"koordinator.sh/koord/decision/scheduling/schedulinghint"
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
	_ reason.Coder     = &Plugin{}
	_ reason.Adviser   = &Plugin{}
)

// ExplainRefusal implements reason.Explainer.
func (p *Plugin) ExplainRefusal(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ fwk.NodeInfo, text string) (reason.Subject, bool) {
	hint, err := schedulinghint.Parse(pod.Annotations, p.limit)
	var phrase, message string
	switch {
	case err != nil && err.Error() == text:
		phrase, message = "the pod's scheduling hint is invalid", text
	case err == nil && hint.Only != nil && reason.ExcludedBy(text) == Name:
		phrase, message = "were not in the pod's scheduling hint", "the scheduling hint restricts the pod to "+listed(hint.Only)
	default:
		return reason.Subject{}, false
	}
	return reason.Subject{
		Code: p.CodeOf(text), Phrase: phrase, Distance: 1,
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return message, nil },
	}, true
}

// CodeOf returns the code of a refusal of PreFilter, empty for any other text.
func (p *Plugin) CodeOf(text string) finding.Code {
	switch {
	case reason.ExcludedBy(text) == Name:
		return finding.SchedulingHintMismatch
	case schedulinghint.IsInvalid(text):
		return finding.SchedulingHintInvalid
	}
	return ""
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
	removed := map[string]*string{}
	for _, key := range []string{extension.AnnotationSchedulingHint, extension.DeprecatedAnnotationSchedulingHint} {
		if _, found := edited.Annotations[key]; found {
			delete(edited.Annotations, key)
			removed[key] = kubectl.Remove
		}
	}
	return []reason.Change{{
		Cost: costOfHint, Pod: edited,
		Fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixPod, Kind: "removeSchedulingHint", Node: info.Node().Name,
			Description: "remove the pod's scheduling hint",
			Steps:       []diagnosticsv1alpha1.FixStep{kubectl.Annotate(kubectl.Pod(pod.Namespace, pod.Name), removed)},
		},
	}}
}
