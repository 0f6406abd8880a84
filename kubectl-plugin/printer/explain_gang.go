package printer

import (
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// Gang prints how far a gang is, what it waits for, what comes next, and its members.
func Gang(w io.Writer, g *diagnosticsv1alpha1.GangExplanation, o Options) error {
	var b strings.Builder
	wrapped(&b, o, 0, gangLine(g, o))
	role := gangRole(g.State)
	wrapped(&b, o, 2, o.Style.Mark(role)+" "+o.Style.Paint(role, o.Style.Clean(string(g.State))+": "+o.say(g.Summary)))
	for i, cause := range g.Causes {
		if text := gangCause(cause); i > 0 || text != g.Summary {
			wrapped(&b, o, 2, o.say(text))
		}
	}
	if g.Next != "" {
		wrapped(&b, o, 2, o.say("next: "+g.Next))
	}
	for _, note := range gangNotes(g) {
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(note)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return gangMembers(w, g, o)
}

func gangCause(cause diagnosticsv1alpha1.GangCause) string {
	text := phrase.Counted(int(cause.Members), "member") + ": " + cause.Message
	if cause.Follows {
		text += " (follows from another member)"
	}
	return text
}

// gangNeeded is how many members must run together, which is not known without the rules.
func gangNeeded(g *diagnosticsv1alpha1.GangExplanation) string {
	if g.Counts.Needed > 0 {
		return fmt.Sprint(g.Counts.Needed)
	}
	return unknown
}

func gangLine(g *diagnosticsv1alpha1.GangExplanation, o Options) string {
	c := &g.Counts
	counts := fmt.Sprintf("%s needed, %d created, %d waiting, %d bound, %d running", gangNeeded(g), c.Created, c.Waiting, c.Bound, c.Running)
	if c.Succeeded > 0 {
		counts += fmt.Sprintf(", %d succeeded", c.Succeeded)
	}
	if c.Failed > 0 {
		counts += fmt.Sprintf(", %d failed", c.Failed)
	}
	parts := []string{o.Style.Paint(Strong, o.Style.Clean(g.Namespace+"/"+g.Name)), o.say(counts), o.say("phase " + g.Phase)}
	if g.ScheduleStartTime != nil {
		parts = append(parts, "scheduling since "+Ago(o.Now, g.ScheduleStartTime))
	}
	return strings.Join(parts, "; ")
}

func gangRole(state diagnosticsv1alpha1.GangState) Role {
	switch state {
	case diagnosticsv1alpha1.GangInvalid, diagnosticsv1alpha1.GangFailed, diagnosticsv1alpha1.GangBlocked:
		return Bad
	case diagnosticsv1alpha1.GangShort:
		return Warn
	case diagnosticsv1alpha1.GangRunning, diagnosticsv1alpha1.GangFinished:
		return Good
	}
	return Plain
}

// gangNotes are the rules of a gang, and who its members belong to.
func gangNotes(g *diagnosticsv1alpha1.GangExplanation) []string {
	var notes []string
	if r := g.Rules; r != nil {
		notes = append(notes, fmt.Sprintf("rules from %s: minMember %d, mode %s, match policy %s; members with a node wait for %s", r.From, r.MinMember, r.Mode, r.MatchPolicy, seconds(r.WaitSeconds)))
		if len(r.Group) > 1 {
			notes = append(notes, "starts with "+strings.Join(r.Group, ", "))
		}
	}
	if g.OccupiedBy != "" {
		notes = append(notes, "occupied by "+g.OccupiedBy)
	}
	return notes
}

// gangMembers lists the members, those without a node first, as many as are asked for.
func gangMembers(w io.Writer, g *diagnosticsv1alpha1.GangExplanation, o Options) error {
	most := o.Parts
	if o.Wide {
		most = len(g.Members)
	}
	if min(most, len(g.Members)) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{{header: "MEMBER", flexible: 20}, {header: "PHASE"}, {header: "NODE", flexible: 12}, {header: "REASON", flexible: 20, wide: true, says: true}}}
	var waiting, others []*diagnosticsv1alpha1.GangMember
	for i := range g.Members {
		if m := &g.Members[i]; m.NodeName == "" && m.Phase == string(corev1.PodPending) {
			waiting = append(waiting, m)
		} else {
			others = append(others, m)
		}
	}
	for i, m := range append(waiting, others...) {
		if i == most {
			break
		}
		role := Plain
		if i < len(waiting) {
			role = Warn
		}
		t.add(painted(role, m.Name), painted(role, m.Phase), text(orNone(m.NodeName)), painted(Dim, m.Refusal))
	}
	if _, err := t.render(w, o); err != nil || len(g.Members) <= most {
		return err
	}
	return line(w, o, Dim, fmt.Sprintf("and %s; -o wide lists all", phrase.Counted(len(g.Members)-most, "more member")))
}
