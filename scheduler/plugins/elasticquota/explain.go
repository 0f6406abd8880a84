package elasticquota

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/quota"
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

// ExplainRefusal says which quota on which level refuses, what it is short of, and which quotas hold what it could have. The
// answer is the same for all nodes, and made once for one scheduling state.
func (p *Plugin) ExplainRefusal(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ fwk.NodeInfo, text string) (reason.Subject, bool) {
	c := read(state)
	if c == nil || !quota.IsReason(text) {
		return reason.Subject{}, false
	}
	c.shared.once.Do(func() {
		judgement := p.state.Explain(pod, p.rules)
		c.shared.found = !judgement.Verdict.Passed() // only a moment has passed, but it can have been the one that counted
		c.shared.subject = p.subjectOf(pod, judgement)
	})
	return c.shared.subject, c.shared.found
}

func (p *Plugin) subjectOf(pod *corev1.Pod, judgement quotas.Judgement) reason.Subject {
	list, named := judgement.Shortages, pod.Labels[extension.LabelQuotaName]
	operands := p.located(quota.Operands(list))
	subject := reason.Subject{
		Code: judgement.Verdict.Code, Phrase: quota.Phrase(list), Distance: quota.Distance(list), Mentions: p.mentions(list),
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return quota.Message(list), operands },
	}
	if len(list) > 0 {
		subject.ReasonMentions = []diagnosticsv1alpha1.SourceRef{p.mention(list[0].Quota)}
	}
	if named != "" && named != judgement.Quota {
		subject.Code = finding.QuotaUnknown
		subject.Describe = func() (string, []diagnosticsv1alpha1.Term) { return quota.MessageUnknown(named, list), operands }
	}
	return subject
}

// mention refers to the object of a quota. One that has none, such as the root, is taken to be of any namespace.
func (p *Plugin) mention(name string) diagnosticsv1alpha1.SourceRef {
	ref := diagnosticsv1alpha1.SourceRef{Kind: "ElasticQuota", Name: name}
	if object := p.state.Object(name); object != nil {
		ref.Namespace = object.Namespace
	}
	return ref
}

// mentions are the quotas that the message and the operands of a refusal name.
func (p *Plugin) mentions(list []quota.Shortage) []diagnosticsv1alpha1.SourceRef {
	var mentions []diagnosticsv1alpha1.SourceRef
	add := func(ref diagnosticsv1alpha1.SourceRef) {
		if ref.Name != extension.RootQuotaName && !slices.Contains(mentions, ref) {
			mentions = append(mentions, ref)
		}
	}
	for i := range list {
		for _, name := range append([]string{list[i].Quota, list[i].Bound}, list[i].Path...) {
			add(p.mention(name))
		}
		for _, holder := range list[i].Holders {
			add(p.mention(holder.Quota))
		}
		if len(list[i].Problems) > 0 { // which name quotas that are related in whatever way
			add(diagnosticsv1alpha1.SourceRef{Kind: "ElasticQuota"})
		}
	}
	return mentions
}

// located says in which namespaces the quotas of terms are.
func (p *Plugin) located(terms []diagnosticsv1alpha1.Term) []diagnosticsv1alpha1.Term {
	for i := range terms {
		if source := terms[i].Source; source != nil && source.Kind == "ElasticQuota" {
			source.Namespace = p.mention(source.Name).Namespace
		}
		p.located(terms[i].Parts)
	}
	return terms
}
