package disclosure

import (
	"fmt"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// PodExplanation reduces an answer to what its caller may see. Verdict, code, counts and the facts of the pod stay; sentences that may
// name objects that the caller may not get are rewritten from reasons and counts. The caller must be allowed to get the pod.
func PodExplanation(status *diagnosticsv1alpha1.PodExplanationStatus, may Access) {
	if Everything(may) {
		fix(status, may)
		return
	}
	v := newViewer(may)
	v.knows("Node", "", status.Pod.NodeName)
	v.knows("Pod", status.Pod.Namespace, status.Pod.Name)
	v.knows("Reservation", "", status.Pod.ReservationName)
	gate := status.Verdict == diagnosticsv1alpha1.PodGated
	for i := range status.Groups {
		v.group(&status.Groups[i], gate)
	}
	v.summary(status)
	v.census(status.Reservations)
	fix(status, may)
	v.fix(status.Fix)
	v.preemption(status.Preemption)
	v.placement(status.Placement)
	v.history(status)
	v.findings(status.Findings)
	for i := range status.Unknown {
		status.Unknown[i].Message = ""
	}
	status.Incomplete = incomplete(status.Incomplete)
	if !v.pods {
		status.Origin.Instance = ""
	}
	status.Withheld = v.counts()
}

// group keeps the nodes that may be named. The message stays where all that it names may be named: for one about the pod alone, what it
// mentions; for one about nodes, whatever a node has to do with. A gate is about the pod alone.
func (v *viewer) group(g *diagnosticsv1alpha1.RefusalGroup, gate bool) {
	readable := v.all(g.Mentions) && (len(g.Mentions) > 0 || !names(g.Code, g.Reason))
	if !readable && names(g.Code, g.Reason) && (len(g.ReasonMentions) == 0 || !v.all(g.ReasonMentions)) {
		g.Reason, g.Introduction = neutral(g.Code, g.Plugin), ""
	}
	readable = readable && (gate || v.nodeTexts() || len(g.Mentions) > 0 && about(g.Mentions))
	if !readable {
		g.Message = g.Reason
	}
	g.Mentions, g.ReasonMentions = v.named(g.Mentions), v.named(g.ReasonMentions)
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n diagnosticsv1alpha1.NodeRefusal) bool { return !v.node(n.Node) })
	for i := range g.Nodes {
		node := &g.Nodes[i]
		node.Operands = v.terms(node.Operands)
		if !readable {
			node.Message = g.Reason
			withoutNotes(node.Operands)
		}
	}
}

// withoutNotes leaves out what terms say in words, which may name objects other than their own.
func withoutNotes(terms []diagnosticsv1alpha1.Term) {
	for i := range terms {
		terms[i].Note = ""
		withoutNotes(terms[i].Parts)
	}
}

// about reports whether all objects are ones that bound a pod on every node: a quota, or its gang with its pods.
func about(mentions []diagnosticsv1alpha1.SourceRef) bool {
	return !slices.ContainsFunc(mentions, func(object diagnosticsv1alpha1.SourceRef) bool {
		return object.Kind != "ElasticQuota" && object.Kind != "PodGroup" && object.Kind != "Pod"
	})
}

// summary is made of the reasons of the groups, as events are.
func (v *viewer) summary(status *diagnosticsv1alpha1.PodExplanationStatus) {
	switch {
	case status.Verdict == diagnosticsv1alpha1.PodBound && status.Placement != nil:
		status.Summary = fmt.Sprintf("bound to %s, which would now be refused", status.Placement.Node)
		if rank := status.Placement.Rank; rank > 0 {
			status.Summary = fmt.Sprintf("bound to %s, which now ranks %d of %d available nodes", status.Placement.Node, rank, status.NodesFeasible)
		}
	case status.Verdict == diagnosticsv1alpha1.PodSchedulable:
		status.Summary = fmt.Sprintf("%d/%d nodes are available", status.NodesFeasible, status.NodesTotal)
	case status.Verdict == diagnosticsv1alpha1.PodUnschedulable:
		var clauses []string
		for _, g := range status.Groups {
			clauses = append(clauses, fmt.Sprintf("%d %s", g.Count, g.Reason))
		}
		status.Summary = fmt.Sprintf("%d/%d nodes are available.", status.NodesFeasible, status.NodesTotal)
		if len(clauses) > 0 {
			status.Summary = fmt.Sprintf("%d/%d nodes are available: %s.", status.NodesFeasible, status.NodesTotal, strings.Join(clauses, ", "))
		}
	case status.Verdict == diagnosticsv1alpha1.PodGated && len(status.Groups) > 0:
		status.Summary = "gated: " + strings.TrimPrefix(status.Groups[0].Message, "gated: ")
	}
}

func (v *viewer) census(census *diagnosticsv1alpha1.ReservationCensus) {
	if census == nil {
		return
	}
	for i := range census.Refusals {
		refusal := &census.Refusals[i]
		refusal.Reason = told(refusal.Code, "Reservation", refusal.Reason)
		refusal.Names = slices.DeleteFunc(refusal.Names, func(name string) bool { return !v.reservation(name) })
	}
}

func (v *viewer) placement(placement *diagnosticsv1alpha1.Placement) {
	if placement == nil {
		return
	}
	if placement.Node != "" && !v.node(placement.Node) {
		placement.Node = ""
	}
	placement.Scores = v.scores(placement.Scores)
}

// scores are those of nodes that the caller may get. A score reveals the load of a node, so that the node of the pod is no exception.
func (v *viewer) scores(scores []diagnosticsv1alpha1.NodeScore) []diagnosticsv1alpha1.NodeScore {
	return slices.DeleteFunc(scores, func(score diagnosticsv1alpha1.NodeScore) bool {
		asked, _ := getting(diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: score.Node})
		return !v.node(score.Node) || !v.may(asked)
	})
}

// incomplete counts the missing parts of an answer when the caller may not see what they are.
func incomplete(texts []string) []string {
	switch len(texts) {
	case 0:
		return nil
	case 1:
		return []string{"1 part of the answer could not be evaluated"}
	}
	return []string{fmt.Sprintf("%d parts of the answer could not be evaluated", len(texts))}
}
