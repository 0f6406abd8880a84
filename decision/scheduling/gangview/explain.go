package gangview

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/scheduling/gang"
)

// Explain says how far a gang is, what it waits for and what happens next. Members with equal causes are counted together. Where PodGroups
// could not be seen, a gang without rules may have some, and nothing is said of its next step.
func Explain(g *Gang, groupsUnseen bool) *diagnosticsv1alpha1.GangExplanation {
	out := &diagnosticsv1alpha1.GangExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: g.Namespace, Name: g.Name}, Phase: string(g.Status.Phase), OccupiedBy: g.Status.OccupiedBy,
		Counts: diagnosticsv1alpha1.GangCounts{
			Needed: int32(g.needed()), Created: int32(len(g.Members)), Waiting: int32(g.waiting()), Bound: g.Status.Scheduled,
			Running: g.Status.Running, Succeeded: g.Status.Succeeded, Failed: g.Status.Failed,
		},
		Rules: rulesOf(g.Spec),
	}
	if start := g.Status.ScheduleStartTime; !start.IsZero() {
		out.ScheduleStartTime = &start
	}
	state, why := StateOf(g)
	out.State, out.Summary = state, why
	if !groupsUnseen || g.Spec != nil {
		out.Next = next(g, state)
	}
	if why == "" {
		out.Summary = Counts(g)
	}
	for _, cause := range Causes(g) {
		out.Causes = append(out.Causes, diagnosticsv1alpha1.GangCause{Message: cause.Message, Members: int32(cause.Members), Follows: cause.Follows})
	}
	for i := range g.Members {
		m := &g.Members[i]
		out.Members = append(out.Members, diagnosticsv1alpha1.GangMember{Name: m.Name, NodeName: m.NodeName, Phase: string(m.Phase), Refusal: m.Refusal})
	}
	return out
}

func rulesOf(spec *gang.Spec) *diagnosticsv1alpha1.GangRules {
	if spec == nil {
		return nil
	}
	rules := &diagnosticsv1alpha1.GangRules{
		From: string(spec.Source), MinMember: spec.MinMember, Mode: string(spec.Mode), MatchPolicy: string(spec.MatchPolicy),
		WaitSeconds: int64(spec.WaitTime.Seconds()),
	}
	for _, key := range spec.Group {
		rules.Group = append(rules.Group, key.String())
	}
	if spec.Topology != nil {
		for _, rule := range spec.Topology.GatherStrategy {
			rules.NetworkTopology = append(rules.NetworkTopology, diagnosticsv1alpha1.GangTopologyRule{Layer: string(rule.Layer), Strategy: string(rule.Strategy)})
		}
	}
	return rules
}

// next says what has to happen for the gang to go on; empty where it is done.
func next(g *Gang, state diagnosticsv1alpha1.GangState) string {
	missing := g.needed() - int(g.Status.Scheduled)
	switch state {
	case diagnosticsv1alpha1.GangInvalid:
		if g.Spec == nil {
			return "no member is tried until the PodGroup exists"
		}
		return "the PodGroup or the annotations of the pods have to be corrected"
	case diagnosticsv1alpha1.GangShort:
		return phrase.Counted(g.needed()-len(g.Members), "more member") + " must be created before any member is tried"
	case diagnosticsv1alpha1.GangFailed:
		return "the owner of the members decides whether they are created again"
	case diagnosticsv1alpha1.GangBlocked:
		return blockedNext(g, missing)
	case diagnosticsv1alpha1.GangScheduling:
		return "koord-scheduler looks for nodes for " + phrase.Counted(missing, "more member") + "; " + waiting(g)
	case diagnosticsv1alpha1.GangScheduled:
		return "the members with a node start"
	}
	return ""
}

// blockedNext says what becomes of the nodes that members found.
func blockedNext(g *Gang, missing int) string {
	keep := "members give up the nodes that they found when one is refused"
	if g.Spec.Mode == extension.GangModeNonStrict {
		keep = waiting(g)
	}
	return "refused members are tried again when the cluster changes, until " + phrase.Counted(missing, "more member") + " can get nodes at the same time; " + keep
}

// waiting says that members with a node wait for the others, and how long.
func waiting(g *Gang) string {
	if g.Spec.WaitTime <= 0 {
		return "members that found one wait for the others"
	}
	return "members that found one wait for the others for up to " + duration.HumanDuration(g.Spec.WaitTime)
}
