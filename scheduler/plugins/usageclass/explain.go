package usageclass

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/kubectl"
	"koordinator.sh/koord/decision/scheduling/usageclass"
	"koordinator.sh/koord/scheduler/reason"
)

// costOfAnotherClass is high for an edit of the pod: the class says what the pod does, and not where it should go.
const costOfAnotherClass = 12

var (
	_ reason.Explainer = &Plugin{}
	_ reason.Coder     = &Plugin{}
	_ reason.Adviser   = &Plugin{}
)

// ExplainRefusal implements reason.Explainer.
func (p *Plugin) ExplainRefusal(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, text string) (reason.Subject, bool) {
	verdict := usageclass.Filter(p.input(state, pod, info))
	if verdict.Passed() || verdict.Reason() != text {
		return reason.Subject{}, false
	}
	return reason.Subject{
		Code: verdict.Code, Key: verdict.Class, Phrase: "had too much of usage class " + verdict.Class,
		Distance: float64(max(verdict.Percent-verdict.Limit, 0)) / 100,
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return verdict.Message(), nil },
	}, true
}

// CodeOf returns the code of a reason of Filter, empty for any other text.
func (p *Plugin) CodeOf(text string) finding.Code { return usageclass.CodeOf(text) }

// Advise implements reason.Adviser: without its class the pod is not bounded.
func (p *Plugin) Advise(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, _ []string) []reason.Change {
	edited := pod.DeepCopy()
	delete(edited.Labels, extension.LabelUsageClass)
	return []reason.Change{{
		Cost: costOfAnotherClass, Pod: edited,
		Fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixPod, Kind: "removeUsageClass", Node: info.Node().Name,
			Description: fmt.Sprintf("remove usage class %s from the pod, if its peaks do not coincide with those of the class", usageclass.ClassOf(pod)),
			Steps:       []diagnosticsv1alpha1.FixStep{kubectl.Label(kubectl.Pod(pod.Namespace, pod.Name), map[string]*string{extension.LabelUsageClass: kubectl.Remove})},
		},
	}}
}
