package elasticquota

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/quota"
	"koordinator.sh/koord/scheduler/reason"
	"koordinator.sh/koord/scheduler/state/quotas"
)

var (
	_ reason.Explainer = &Plugin{}
	_ reason.Coder     = &Plugin{}
	_ reason.Preemptor = &Plugin{}
)

// CodeOf returns the code of a reason of PreFilter or Filter, empty for any other text.
func (p *Plugin) CodeOf(text string) finding.Code { return quota.CodeOf(text, p.rules) }

// ExplainRefusal says which quota on which level refuses, what it lacks, and who holds what it could have. It is the same for
// all nodes, and made once for one scheduling state.
func (p *Plugin) ExplainRefusal(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ fwk.NodeInfo, text string) (reason.Subject, bool) {
	c := read(state)
	if c == nil || !quota.IsReason(text) {
		return reason.Subject{}, false
	}
	c.shared.once.Do(func() {
		judgement := p.state.Explain(pod, p.rules)
		c.shared.found = !judgement.Verdict.Passed() // only a moment has passed, but it can have been the one that counted
		c.shared.subject = subjectOf(pod, judgement)
	})
	return c.shared.subject, c.shared.found
}

func subjectOf(pod *corev1.Pod, judgement quotas.Judgement) reason.Subject {
	list, named := judgement.Shortages, pod.Labels[extension.LabelQuotaName]
	subject := reason.Subject{
		Code: judgement.Verdict.Code, Phrase: quota.Phrase(list), Distance: quota.Distance(list),
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return quota.Message(list), quota.Operands(list) },
	}
	if named != "" && named != judgement.Quota {
		subject.Code = finding.QuotaUnknown
		subject.Describe = func() (string, []diagnosticsv1alpha1.Term) {
			return quota.MessageUnknown(named, list), quota.Operands(list)
		}
	}
	return subject
}
