package printer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/scheduling/jobview"
)

// thatHelps begins the line of the change that makes a pod schedulable.
const thatHelps = "smallest change that helps: "

// BriefPod is a PodExplanation in short.
func BriefPod(e *diagnosticsv1alpha1.PodExplanation) Brief {
	s := &e.Status
	kind, namespace, name := "pod", s.Pod.Namespace, s.Pod.Name
	if s.Pod.ReservationName != "" {
		kind, namespace, name = "reservation", "", s.Pod.ReservationName
	}
	a := Brief{Role: VerdictRole(s.Verdict), Sentence: string(s.Verdict) + ": " + s.Summary, Code: s.Code}
	for i := range s.Groups {
		g := &s.Groups[i]
		a.Evidence = append(a.Evidence, phrase.Counted(int(g.Count), "node")+": "+cmp.Or(g.Message, g.Reason)+" ["+g.Code+"]")
	}
	if s.Fix != nil {
		// The change that helps must not be the line that is cut.
		a.Evidence = append(a.Evidence[:min(len(a.Evidence), mostEvidence-1)], thatHelps+s.Fix.Description)
		if !strings.Contains(s.Fix.Command, "\n") {
			a.Next = append(a.Next, s.Fix.Command)
		}
	}
	a.add(s.Findings)
	if text := HintInShort(s.Pod.Hint); text != "" {
		a.Evidence = append(a.Evidence, text)
	}
	a.Next = append(a.Next, explainCommand(kind, namespace, name))
	return a
}

// BriefNode is a NodeExplanation in short.
func BriefNode(e *diagnosticsv1alpha1.NodeExplanation) Brief {
	s := &e.Status
	a := Brief{Role: worst(s.Findings), Sentence: s.Summary}
	a.add(s.Findings)
	for i := range s.Published {
		p := &s.Published[i]
		switch name := shortResource(p.Resource); {
		case p.Reason == "":
		case p.Published != nil && p.Computed != nil:
			a.Evidence = append(a.Evidence, fmt.Sprintf("%s: node.status says %s, now computed as %s; %s", name,
				QuantityWithUnit(*p.Published, p.Unit), QuantityWithUnit(*p.Computed, p.Unit), p.Reason))
		default:
			a.Evidence = append(a.Evidence, name+": "+p.Reason)
		}
	}
	for i := range s.Waterfalls {
		f := &s.Waterfalls[i]
		a.Evidence = append(a.Evidence, shortResource(f.Resource)+" = "+QuantityWithUnit(f.Result, f.Unit)+" (policy "+f.Policy+")")
	}
	a.Next = append(a.Next, explainCommand("node", "", s.Node.Name))
	return a
}

// BriefQuota is a QuotaExplanation in short.
func BriefQuota(q *diagnosticsv1alpha1.QuotaExplanation) Brief {
	a := Brief{Role: quotaRole(q.State), Sentence: string(q.State)}
	if q.Reason != "" {
		a.Sentence += ": " + q.Reason
	}
	a.Evidence = quotaNotes(q)
	if len(q.Refused) > 0 {
		text := "pod " + q.Refused[0].Name + " does not fit: " + q.Refused[0].Message
		if more := len(q.Refused) - 1 + int(q.RefusedOmitted); more > 0 {
			text = fmt.Sprintf("%s (and %s)", text, phrase.Counted(more, "other pod"))
		}
		a.Evidence = append(a.Evidence, text)
	}
	a.add(q.Findings)
	for i := range q.Divisions {
		d := &q.Divisions[i]
		a.Evidence = append(a.Evidence, shortResource(d.Resource)+": runtime "+QuantityWithUnit(d.Runtime, d.Unit)+", used "+QuantityWithUnit(d.Used, d.Unit)+
			", another pod may request "+QuantityWithUnit(d.Available, d.Unit))
	}
	a.Next = append(a.Next, explainCommand("quota", q.Namespace, q.Name))
	return a
}

// BriefGang is a GangExplanation in short.
func BriefGang(g *diagnosticsv1alpha1.GangExplanation) Brief {
	a := Brief{Role: gangRole(g.State), Sentence: string(g.State) + ": " + g.Summary}
	own := map[string]bool{}
	for _, cause := range g.Causes {
		own[cause.Message] = !cause.Follows
		if text := gangCause(cause); text != g.Summary {
			a.Evidence = append(a.Evidence, text)
		}
	}
	if g.Next != "" {
		a.Evidence = append(a.Evidence, "next: "+g.Next)
	}
	// Of the members that have no node, one that has a reason of its own explains the others.
	for i := range g.Members {
		if m := &g.Members[i]; m.NodeName == "" && own[m.Refusal] {
			a.Next = append(a.Next, explainCommand("pod", g.Namespace, m.Name))
			break
		}
	}
	a.Next = append(a.Next, explainCommand("gang", g.Namespace, g.Name))
	return a
}

// BriefMigration is a MigrationExplanation in short.
func BriefMigration(m *diagnosticsv1alpha1.MigrationExplanation, o Options) Brief {
	a := Brief{Role: migrationRole(m), Sentence: m.Summary, Evidence: migrationNotes(m, o)}
	if m.Pod.Name != "" {
		a.Next = append(a.Next, explainCommand("eviction", m.Pod.Namespace, m.Pod.Name))
	}
	a.Next = append(a.Next, explainCommand("migration", "", m.Name))
	return a
}

// BriefJob is a JobExplanation in short.
func BriefJob(e *diagnosticsv1alpha1.JobExplanation) Brief {
	a := Brief{Role: jobRole(e), Sentence: string(e.State) + ": " + e.Summary, Code: e.Code}
	if e.HeldBy != "" {
		a.Evidence = append(a.Evidence, "held by "+e.HeldBy)
	}
	if e.Queue != nil {
		a.Evidence = append(a.Evidence, jobview.QueueText(e.Queue))
	}
	rest, hint := besidesSummary(e)
	if isCommand(hint) {
		a.Next = append(a.Next, hint)
	}
	a.add(rest)
	if e.WaitingPod != "" {
		a.Next = append(a.Next, explainCommand("pod", e.Namespace, e.WaitingPod))
	}
	a.Next = append(a.Next, explainCommand("job", e.Namespace, e.Name))
	return a
}

// BriefWorkers is a WorkersExplanation in short.
func BriefWorkers(e *diagnosticsv1alpha1.WorkersExplanation, o Options) Brief {
	a := Brief{Role: workersRole(e), Sentence: e.Message, Code: e.Code}
	for i := range e.Draining {
		a.Evidence = append(a.Evidence, drainingWords(&e.Draining[i], o))
	}
	a.Evidence = append(a.Evidence, e.Notes...)
	a.Next = append(a.Next, explainCommand("workers", e.Namespace, e.Name))
	return a
}

// BriefRecommendation is a RecommendationExplanation in short.
func BriefRecommendation(r *diagnosticsv1alpha1.RecommendationExplanation) Brief {
	a := Brief{Role: applicationRole(r.Application.State), Sentence: r.Application.Message, Evidence: slices.Clone(r.Notes)}
	for i := range r.Containers {
		c := &r.Containers[i]
		a.Evidence = append(a.Evidence, "container "+c.Name+": "+recommended("cpu", &c.CPU, diagnosticsv1alpha1.MilliCPU)+"; "+recommended("memory", &c.Memory, diagnosticsv1alpha1.Bytes))
	}
	a.Next = append(a.Next, explainCommand("recommendation", r.Namespace, r.Name))
	return a
}

// recommended is what is requested of a resource, and what should be.
func recommended(name string, is *diagnosticsv1alpha1.ResourceRecommendation, unit diagnosticsv1alpha1.Unit) string {
	requested, target := unknown, unknown
	if is.Requested != nil {
		requested = QuantityWithUnit(*is.Requested, unit)
	}
	if is.Target != nil {
		target = QuantityWithUnit(*is.Target, unit)
	}
	return name + " " + requested + " requested, " + target + " recommended"
}

// worst is the role of the most severe finding, and Good without any.
func worst(found []diagnosticsv1alpha1.Finding) Role {
	role := Good
	for i := range found {
		switch found[i].Severity {
		case diagnosticsv1alpha1.SeverityError:
			return Bad
		case diagnosticsv1alpha1.SeverityWarning:
			role = Warn
		}
	}
	return role
}
