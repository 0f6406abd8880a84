package loadaware

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/reason"
)

var (
	_ reason.Coder      = &Plugin{}
	_ reason.Explainer  = &Plugin{}
	_ reason.Remediable = &Plugin{}
	_ reason.Estimator  = &Plugin{}
)

// CodeOf returns the code of a reason of Filter, empty for any other text.
func (p *Plugin) CodeOf(text string) finding.Code { return loadaware.CodeOf(text) }

// ExplainRefusal repeats Filter with a trace. It returns false when the load of the node has changed in between.
func (p *Plugin) ExplainRefusal(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, text string) (reason.Subject, bool) {
	verdict, trace := p.Explain(pod, info.Node())
	if verdict.Passed() || verdict.Reason() != text {
		return reason.Subject{}, false
	}
	return reason.Subject{
		Code: verdict.Code, Phrase: verdict.Phrase(), Distance: verdict.Distance(),
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return trace.Message(verdict), trace.Operands(verdict) },
	}, true
}

// Remedies implements reason.Remediable. Filter counts what pods use and not what they request, so preemption is not tried; a
// pod that leaves takes its usage along all the same. An expired NodeMetric refuses any request.
func (p *Plugin) Remedies(text string) reason.Remedy {
	if text == loadaware.ReasonExpired {
		return reason.FewerPods
	}
	return reason.SmallerRequest | reason.FewerPods
}

// EstimatedUsage implements reason.Estimator.
func (p *Plugin) EstimatedUsage(pod *corev1.Pod) corev1.ResourceList {
	return p.policy.ResourceList(p.Estimate(pod).Usage)
}
