package tui

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// migrationText is how far a job is, gate by gate.
func (d *migration) migrationText(width int) []string {
	e, st := d.explanation.value, d.st
	state := migrationStateOf(e)
	glyph, text := state.mark(st)
	lines := []string{d.heading(text.Render(glyph+" "+state.word()), e.Name,
		st.Dim.Render(cell.Clean(e.Mode)+", "+st.Say("created "+quantity.AgeOf(d.clock.Now(), e.CreatedAt.Time)+" ago")), width)}
	lines = append(lines, d.sentence(e.Summary, width)...)
	lines = append(lines, "")
	lines = append(lines, d.factsText(d.migrationMove(e), width)...)
	lines = append(lines, d.gatesText(e.Gates, width)...)
	if d.page().unfolded {
		lines = append(lines, d.conditionsText(e.Conditions, width)...)
	}
	return lines
}

// migrationMove is the move, what comes next and the deadline.
func (d *migration) migrationMove(e *diagnostics.MigrationExplanation) []fact {
	now := d.clock.Now()
	facts := []fact{{"pod", e.Pod.Namespace + "/" + e.Pod.Name}, {"move", orNone(e.Pod.NodeName) + " " + d.st.Arrow + " " + orNone(e.TargetNode)}}
	if next := e.Next; next != nil {
		text := next.Message
		if next.At != nil {
			text += ", or " + untilText(next.At, now)
		}
		facts = append(facts, fact{"next", text})
	}
	if !migrationStateOf(e).ended() {
		facts = append(facts, fact{"deadline", untilText(&e.Deadline, now) + ", " + quantity.Age(e.Deadline.Sub(e.CreatedAt.Time)) + " after the job was created"})
	}
	if e.Message != "" && gateMessage(e) != e.Message {
		facts = append(facts, fact{"status", reasonAnd(e.Reason, e.Message)})
	}
	return facts
}

func gateMessage(e *diagnostics.MigrationExplanation) string {
	if gate := gateAt(e); gate != nil {
		return gate.Message
	}
	return ""
}

func reasonAnd(reason, message string) string {
	if reason == "" {
		return message
	}
	return reason + ": " + message
}

func orNone(text string) string {
	if text == "" {
		return "<none>"
	}
	return text
}

// untilText is when a moment comes.
func untilText(at *metav1.Time, now time.Time) string {
	if left := at.Sub(now); left > 0 {
		return "in " + quantity.Age(left)
	}
	return "now"
}

const gateWidth = 22

// gatesText lists the gates: since when a job waits or when it passed, when it looks again, and what it waits for.
func (d *migration) gatesText(gates []diagnostics.MigrationGate, width int) []string {
	if len(gates) == 0 {
		return nil
	}
	st, now := d.st, d.clock.Now()
	lines := []string{"", "  " + st.Title.Render(st.Say("gates")) + "  " + gatesBar(gates, st) +
		st.Dim.Render(st.Say(fmt.Sprintf("  %d of %d passed", gatesPassed(d.explanation.value), len(gates)))), "",
		"    " + st.Dim.Render(cell.Left("GATE", gateWidth, "")+cell.Left("STATE", 12, "")+cell.Right("SINCE", 7, "")+cell.Right("RETRY", 9, "")+cell.Right("ATTEMPTS", 10, ""))}
	for i := range gates {
		g := &gates[i]
		mark, text := gateMark(g.State, st)
		since, retry, attempts := quantity.None, quantity.None, quantity.None
		if g.Since != nil {
			since = quantity.AgeOf(now, g.Since.Time)
		}
		if g.RetryAt != nil {
			retry = untilText(g.RetryAt, now)
		}
		if g.Attempts > 0 {
			attempts = quantity.Count(int64(g.Attempts))
		}
		lines = append(lines, "  "+text.Render(mark+" "+cell.Left(cell.Clean(g.Name), gateWidth, st.Ellipsis)+cell.Left(words(string(g.State)), 12, ""))+
			st.Plain.Render(cell.Right(since, 7, ""))+st.Plain.Render(cell.Right(retry, 9, ""))+st.Dim.Render(cell.Right(attempts, 10, "")))
		if g.State == diagnostics.MigrationGatePassed && !d.page().unfolded {
			continue
		}
		for _, line := range d.st.Wrap(d.st.Say(reasonAnd(g.Reason, g.Message)), max(width-8, 20)) {
			if line != "" {
				lines = append(lines, "      "+st.Dim.Render(line))
			}
		}
	}
	return lines
}

func gateMark(state diagnostics.MigrationGateState, st *style.Set) (string, style.Style) {
	switch state {
	case diagnostics.MigrationGatePassed:
		return st.Check, st.OK
	case diagnostics.MigrationGateWaiting:
		return st.Half, st.Warn
	case diagnostics.MigrationGateClosed:
		return st.Cross, st.Bad
	default:
		return st.Dot, st.Faint
	}
}

// conditionsText lists the conditions of a job's status.
func (m *Model) conditionsText(conditions []diagnostics.MigrationCondition, width int) []string {
	lines := []string{"", "  " + m.st.Title.Render(m.st.Say("conditions"))}
	if len(conditions) == 0 {
		return append(lines, "   "+m.st.Dim.Render("<none>"))
	}
	var facts []fact
	for i := range conditions {
		c := &conditions[i]
		text := c.Status
		if c.LastTransitionTime != nil {
			text += " for " + ageOf(c.LastTransitionTime, m.clock.Now())
		}
		if said := reasonAnd(c.Reason, c.Message); said != "" {
			text += ", " + said
		}
		facts = append(facts, fact{c.Type, text})
	}
	return append(lines, m.factsText(facts, width)...)
}

// migrationDetail is every field of a job that is known.
func (m *Model) migrationDetail(e *diagnostics.MigrationExplanation, width int) []string {
	state, now := migrationStateOf(e), m.clock.Now()
	glyph, text := state.mark(m.st)
	lines := []string{m.heading(text.Render(glyph+" "+state.word()), e.Name, "", width), ""}
	others := "<unknown>"
	if e.OtherJobs != nil {
		others = fmt.Sprintf("%d running, %d pending", e.OtherJobs.Running, e.OtherJobs.Pending)
	}
	lines = append(lines, m.factsText([]fact{
		{"phase", e.Phase}, {"reason", e.Reason}, {"message", e.Message}, {"mode", e.Mode}, {"paused", yesNo(e.Paused)},
		{"passed arbitration", yesNo(e.Arbitration.Passed)}, {"pod", e.Pod.Namespace + "/" + e.Pod.Name}, {"from node", e.Pod.NodeName},
		{"to node", e.TargetNode}, {"reservation", e.Reservation}, {"replacement", e.Replacement},
		{"created", quantity.AgeOf(now, e.CreatedAt.Time) + " ago"}, {"deadline", e.Deadline.UTC().Format(time.RFC3339)}, {"other jobs", others},
	}, width)...)
	return append(lines, m.conditionsText(e.Conditions, width)...)
}
