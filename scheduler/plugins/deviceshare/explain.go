package deviceshare

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/scheduler/reason"
)

// ExplainRefusal repeats Filter with a trace, or says what PreFilter refused.
func (p *Plugin) ExplainRefusal(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, text string) (reason.Subject, bool) {
	in, concerned := p.input(state, info)
	if !concerned {
		return p.explainPod(pod, text)
	}
	trace := &device.Trace{}
	refusal := device.Fits(in, trace)
	if refusal == nil || refusal.Reason != text {
		return reason.Subject{}, false
	}
	return reason.Subject{
		Code: refusal.Code, Key: string(refusal.Type), Phrase: refusal.Phrase(), Distance: trace.Distance(refusal),
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return trace.Message(refusal), trace.Operands() },
	}, true
}

// CodeOf returns the code of a reason of PreFilter, Filter or Reserve, empty for any other text.
func (p *Plugin) CodeOf(text string) finding.Code { return device.CodeOf(text) }

// explainPod is about pods that no node can take.
func (p *Plugin) explainPod(pod *corev1.Pod, text string) (reason.Subject, bool) {
	_, refusal, err := p.parse(pod)
	if err != nil || refusal == nil || refusal.Reason != text {
		return reason.Subject{}, false
	}
	return reason.Subject{
		Code: refusal.Code, Phrase: text, Distance: 1,
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return text, nil },
	}, true
}

// Advise proposes what the pod could give up to fit on the node.
func (p *Plugin) Advise(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, _ []string) []reason.Change {
	in, concerned := p.input(state, info)
	if !concerned {
		return nil
	}
	var changes []reason.Change
	for _, relaxed := range device.Relaxations(pod, in, cycleOf(state).templates) {
		changes = append(changes, reason.Change{
			Cost: costOf(relaxed), Pod: relaxed.Pod,
			Fix: diagnosticsv1alpha1.Fix{
				Target: diagnosticsv1alpha1.FixPod, Kind: relaxed.Kind, Node: info.Node().Name,
				Description: relaxed.Description, Steps: relaxed.Steps,
			},
		})
	}
	return changes
}

func costOf(relaxed device.Relaxation) float64 {
	if relaxed.Given > 0 {
		return reason.CostOfReduction(relaxed.Given)
	}
	return reason.CostRelax
}
