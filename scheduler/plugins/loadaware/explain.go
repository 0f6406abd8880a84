package loadaware

import (
	"context"
	"fmt"

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
		Code: verdict.Code, Phrase: phraseOf(verdict), Distance: distanceOf(verdict),
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return trace.Message(verdict), trace.Operands(verdict) },
	}, true
}

// phraseOf says a refusal in a summary, after the number of nodes.
func phraseOf(verdict loadaware.Verdict) string {
	switch verdict.Code {
	case finding.LoadMetricExpired:
		return "had an expired NodeMetric"
	case finding.LoadAggregatedExceeded:
		return fmt.Sprintf("had aggregated %s usage above %d%%", verdict.Resource, verdict.Threshold)
	}
	return fmt.Sprintf("had %s usage above %d%%", verdict.Resource, verdict.Threshold)
}

// distanceOf is by how much of the node a threshold is exceeded; 1 where no usage is known.
func distanceOf(verdict loadaware.Verdict) float64 {
	if verdict.Code == finding.LoadMetricExpired {
		return 1
	}
	return float64(verdict.Percent-verdict.Threshold) / 100
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
