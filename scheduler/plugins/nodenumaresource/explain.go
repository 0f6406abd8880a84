package nodenumaresource

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/reason"
)

// phrases say refusals in a summary, after the number of nodes.
var phrases = map[finding.Code]string{
	finding.CPUsNotInteger:           "required a whole number of CPUs",
	finding.CPUTopologyInvalid:       "reported no CPU topology",
	finding.CPUsNotWholeCores:        "allocated whole cores only",
	finding.CPUBindPolicyConflict:    "required a different CPU bind policy",
	finding.AmplificationInvalid:     "had an invalid amplification ratio",
	finding.CPUsExhausted:            "had insufficient free CPUs",
	finding.NUMAZonesMissing:         "reported no NUMA zones",
	finding.NUMAZonesInsufficient:    "had insufficient resources on the NUMA zones chosen",
	finding.NUMAPolicyMismatch:       "had a different NUMA topology policy",
	finding.NUMAUnaligned:            "couldn't align the resources on NUMA zones",
	finding.AmplifiedCPUInsufficient: "had insufficient amplified cpu",
	finding.CPUSpecInvalid:           "had an invalid resource-spec",
}

// ExplainRefusal repeats Filter with a trace, or says what PreFilter refused.
func (p *Plugin) ExplainRefusal(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo, text string) (reason.Subject, bool) {
	c := cycleOf(state)
	if c == nil {
		return p.explainPod(pod, text)
	}
	trace := &numa.Trace{}
	_, verdict, _ := p.evaluate(ctx, state, c, pod, info, trace)
	if verdict.Passed() || verdict.Reason() != text {
		return reason.Subject{}, false
	}
	return reason.Subject{
		Code: verdict.Code, Phrase: phraseOf(verdict), Distance: trace.Distance(verdict),
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return trace.Message(verdict), trace.Operands(verdict) },
	}, true
}

// CodeOf returns the code of a reason of PreFilter, Filter or Reserve, empty for any other text. Refusals of hint providers,
// which Filter hands on, are theirs.
func (p *Plugin) CodeOf(text string) finding.Code { return numa.CodeOf(text) }

// explainPod is about pods that no node can take.
func (p *Plugin) explainPod(pod *corev1.Pod, text string) (reason.Subject, bool) {
	_, verdict := numa.RequestOf(pod, p.args)
	if verdict.Passed() || verdict.Reason() != text {
		return reason.Subject{}, false
	}
	message, operands := text, []diagnosticsv1alpha1.Term(nil)
	if verdict.Code == finding.CPUsNotInteger {
		cpu := numa.PlainMilliCPU(pod)
		message = fmt.Sprintf("%s, and %dm is not a whole number", text, cpu)
		operands = []diagnosticsv1alpha1.Term{{Name: "cpuNeeded", Operator: diagnosticsv1alpha1.Info, Value: cpu, Unit: diagnosticsv1alpha1.MilliCPU}}
	}
	return reason.Subject{
		Code: verdict.Code, Phrase: text, Distance: 1,
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return message, operands },
	}, true
}

func phraseOf(verdict numa.Verdict) string {
	switch verdict.Code {
	case finding.CPUBindPolicyUnsatisfied:
		return fmt.Sprintf("couldn't satisfy CPU bind policy %s", verdict.Policy)
	case finding.NUMAResourceInsufficient:
		return fmt.Sprintf("had insufficient %s on their NUMA zones", verdict.Resource)
	case finding.NUMAResourceUnsatisfied:
		return fmt.Sprintf("had NUMA zones with insufficient %s", verdict.Resource)
	}
	return phrases[verdict.Code]
}
