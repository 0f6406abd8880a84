package coscheduling

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/decision/scheduling/networktopology"
	"koordinator.sh/koord/scheduler/reason"
)

var (
	_ reason.Explainer     = &Plugin{}
	_ reason.GateExplainer = &Plugin{}
	_ reason.Coder         = &Plugin{}
)

// CodeOf implements reason.Coder, for the reasons of PreFilter, and of Permit while members wait.
func (p *Plugin) CodeOf(text string) finding.Code {
	if reason.ExcludedBy(text) == Name {
		return finding.GangTopologyUnsatisfied // PreFilter leaves nodes out for nothing else
	}
	return cmp.Or(gang.CodeOf(text), networktopology.CodeOf(text))
}

// ExplainGate implements reason.GateExplainer.
func (p *Plugin) ExplainGate(ctx context.Context, pod *corev1.Pod) (reason.Subject, bool) {
	return p.ExplainRefusal(ctx, nil, pod, nil, "")
}

// ExplainRefusal implements reason.Explainer. It names the one member that holds the others back: why no node takes that one
// is a question about it, and not about this pod.
func (p *Plugin) ExplainRefusal(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, _ fwk.NodeInfo, _ string) (reason.Subject, bool) {
	key, belongs := gang.KeyOf(pod)
	if !belongs {
		return reason.Subject{}, false
	}
	verdict, report := p.state.Admit(key, pod.UID), p.state.Report(key)
	if verdict.Passed() {
		return reason.Subject{}, false
	}
	return reason.Subject{
		Code: verdict.Code, Key: key.String(), Phrase: phraseOf(verdict), Distance: 1, Mentions: mentionsOf(report),
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return report.Message(), termsOf(report) },
	}, true
}

func phraseOf(verdict gang.Verdict) string {
	switch verdict.Code {
	case finding.GangMemberRefused:
		pod := verdict.Refused.Pod
		return fmt.Sprintf("member %s/%s of the gang found no node", pod.Namespace, pod.Name)
	case finding.GangMembersMissing:
		return fmt.Sprintf("gang %s is missing pods", verdict.Gangs[0])
	case finding.GangGroupMissing:
		return fmt.Sprintf("gang %s of the group does not exist", verdict.Gangs[0])
	}
	return fmt.Sprintf("the minimum of members of gang %s is unknown", verdict.Gangs[0])
}

// mentionsOf are the gangs that a refusal is about, and the members that were refused. Why one was, its own status says.
func mentionsOf(report gang.Report) []diagnosticsv1alpha1.SourceRef {
	var mentions []diagnosticsv1alpha1.SourceRef
	for _, standing := range report.Gangs {
		mentions = append(mentions, diagnosticsv1alpha1.SourceRef{Kind: "PodGroup", Namespace: standing.Key.Namespace, Name: standing.Key.Name})
		for _, member := range standing.Refused {
			mentions = append(mentions, reason.Mention(member.Pod))
		}
	}
	return mentions
}

// termsOf are the numbers of each gang of the group.
func termsOf(report gang.Report) []diagnosticsv1alpha1.Term {
	var terms []diagnosticsv1alpha1.Term
	for _, standing := range report.Gangs {
		add := func(name string, value int) {
			terms = append(terms, diagnosticsv1alpha1.Term{
				Name: name, Operator: diagnosticsv1alpha1.Info, Value: int64(value), Unit: diagnosticsv1alpha1.Count,
				Source: &diagnosticsv1alpha1.SourceRef{Kind: "PodGroup", Namespace: standing.Key.Namespace, Name: standing.Key.Name},
			})
		}
		add("minMember", standing.Minimum)
		add("pods", standing.Children)
		add("placed", standing.Placed())
		add("refused", len(standing.Refused))
	}
	return terms
}
