package printer

import (
	"fmt"
	"io"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
)

// Migration prints how far a PodMigrationJob is, gate by gate, what it does next, and its conditions.
func Migration(w io.Writer, m *diagnosticsv1alpha1.MigrationExplanation, o Options) error {
	var b strings.Builder
	wrapped(&b, o, 0, migrationLine(m, o))
	role := migrationRole(m)
	wrapped(&b, o, 2, o.Style.Mark(role)+" "+o.Style.Paint(role, o.say(m.Summary)))
	for _, line := range migrationNotes(m, o) {
		wrapped(&b, o, 2, o.say(line))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if err := migrationGates(w, m.Gates, o); err != nil {
		return err
	}
	return migrationConditions(w, m.Conditions, o)
}

func migrationLine(m *diagnosticsv1alpha1.MigrationExplanation, o Options) string {
	move := "moves pod " + m.Pod.Namespace + "/" + m.Pod.Name
	if m.Pod.NodeName != "" {
		move += " from " + m.Pod.NodeName
	}
	if m.TargetNode != "" {
		move += " to " + m.TargetNode
	}
	phase := m.Phase
	if m.Paused {
		phase += ", paused"
	}
	parts := []string{o.Style.Paint(Strong, o.Style.Clean(m.Name)), o.say(move), o.Style.Clean(m.Mode), o.say(phase), o.say("created " + Ago(o.Now, &m.CreatedAt))}
	return strings.Join(parts, "; ")
}

// migrationNotes are the next step, the deadline and the objects of a job.
func migrationNotes(m *diagnosticsv1alpha1.MigrationExplanation, o Options) []string {
	var notes []string
	if next := m.Next; next != nil {
		note := "next: " + next.Message
		if next.At != nil {
			note += ", or " + ahead(o.Now, next.At)
		}
		notes = append(notes, note)
	}
	if !migrationEnded(m.Phase) {
		notes = append(notes, fmt.Sprintf("deadline: %s, %s after the job was created", ahead(o.Now, &m.Deadline), seconds(freshness.Seconds(m.Deadline.Time, m.CreatedAt.Time))))
		if !m.Arbitration.Passed {
			notes = append(notes, fmt.Sprintf("waits for the arbitrator, which sets the annotation %s", m.Arbitration.Annotation))
		}
	}
	if m.Message != "" && !strings.Contains(m.Summary, m.Message) {
		notes = append(notes, "status: "+reasonAnd(m.Reason, m.Message))
	}
	if m.Reservation != "" {
		notes = append(notes, "reservation: "+m.Reservation)
	}
	if m.Replacement != "" {
		notes = append(notes, "replacement: "+m.Replacement)
	}
	if other := m.OtherJobs; other != nil && !migrationEnded(m.Phase) {
		notes = append(notes, fmt.Sprintf("other jobs: %d running, %d pending", other.Running, other.Pending))
	}
	return notes
}

func reasonAnd(reason, message string) string {
	if reason == "" {
		return message
	}
	return reason + ": " + message
}

func migrationGates(w io.Writer, gates []diagnosticsv1alpha1.MigrationGate, o Options) error {
	if len(gates) == 0 {
		return nil
	}
	if err := title(w, "Gates", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "GATE"}, {header: "STATE"}, {header: "SINCE", right: true, drop: 2}, {header: "RETRY", right: true, drop: 1},
		{header: "ATTEMPTS", right: true, wide: true}, {header: "REASON", wide: true, says: true}, {header: "MESSAGE", flexible: 24, says: true},
	}}
	for i := range gates {
		g := &gates[i]
		retry := none
		if g.RetryAt != nil {
			retry = ahead(o.Now, g.RetryAt)
		}
		t.add(text(g.Name), painted(gateRole(g.State), string(g.State)), text(Age(o.Now, g.Since)), text(retry), text(attempts(g.Attempts)), text(orNone(g.Reason)), text(orNone(g.Message)))
	}
	_, err := t.render(w, o)
	return err
}

func migrationConditions(w io.Writer, conditions []diagnosticsv1alpha1.MigrationCondition, o Options) error {
	if len(conditions) == 0 {
		return nil
	}
	if err := title(w, "Conditions", o); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "TYPE"}, {header: "STATUS"}, {header: "AGE", right: true, drop: 2}, {header: "ATTEMPTS", right: true, wide: true},
		{header: "REASON", drop: 1, says: true}, {header: "MESSAGE", flexible: 24, says: true},
	}}
	for i := range conditions {
		c := &conditions[i]
		t.add(text(c.Type), text(c.Status), text(Age(o.Now, c.LastTransitionTime)), text(attempts(c.Attempts)), text(orNone(c.Reason)), text(orNone(c.Message)))
	}
	_, err := t.render(w, o)
	return err
}

func attempts(n int32) string {
	if n == 0 {
		return none
	}
	return fmt.Sprint(n)
}

// ahead says when a moment comes: "in 3m", or "now" when it has come.
func ahead(now time.Time, moment *metav1.Time) string {
	if left := freshness.Seconds(moment.Time, now); left > 0 {
		return "in " + seconds(left)
	}
	return "now"
}

func gateRole(state diagnosticsv1alpha1.MigrationGateState) Role {
	switch state {
	case diagnosticsv1alpha1.MigrationGatePassed:
		return Good
	case diagnosticsv1alpha1.MigrationGateWaiting:
		return Warn
	case diagnosticsv1alpha1.MigrationGateClosed:
		return Bad
	default:
		return Dim
	}
}

// migrationRole is that of a job's outcome.
func migrationRole(m *diagnosticsv1alpha1.MigrationExplanation) Role {
	switch m.Phase {
	case "Succeeded":
		return Good
	case "Failed", "Aborted":
		return Bad
	}
	for i := range m.Gates {
		if m.Gates[i].State == diagnosticsv1alpha1.MigrationGateClosed {
			return Bad
		}
	}
	return Warn
}

func migrationEnded(phase string) bool {
	return phase == "Succeeded" || phase == "Failed" || phase == "Aborted"
}
