package printer

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// history prints the attempts that the scheduler remembers, what differed between them, and the pod's siblings.
func history(w io.Writer, s *diagnosticsv1alpha1.PodExplanationStatus, o Options) error {
	if len(s.History) == 0 && len(s.Siblings) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", o.Style.Paint(Header, o.say("Scheduling attempts"))); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{
		{header: "ATTEMPT", right: true}, {header: "TIME"}, {header: "AGE", right: true, drop: 2}, {header: "OUTCOME"}, {header: "NODE", flexible: 12, drop: 1}, {header: "WHY", flexible: 40, says: true},
	}}
	for i := range s.History {
		attempt := &s.History[i]
		t.add(text(strconv.Itoa(int(attempt.Number))), text(clockTime(attempt.Time, o.Now)), text(Age(o.Now, &metav1.Time{Time: attempt.Time.Time})),
			painted(outcomeRole(attempt.Outcome), string(attempt.Outcome)), text(nodeOfAttempt(attempt)), text(whyAttempt(attempt)))
	}
	if _, err := t.render(w, o); err != nil {
		return err
	}
	if err := differences(w, s.History, o); err != nil {
		return err
	}
	return siblings(w, s.Siblings, o)
}

// differences prints what changed from each attempt to the next.
func differences(w io.Writer, attempts []diagnosticsv1alpha1.SchedulingAttempt, o Options) error {
	var b strings.Builder
	for i := 1; i < len(attempts); i++ {
		if len(attempts[i].Differences) > 0 {
			line := fmt.Sprintf("%d %s %d: %s", attempts[i-1].Number, o.Style.Arrow(), attempts[i].Number, strings.Join(attempts[i].Differences, "; "))
			wrapped(&b, o, 4, o.say(line))
		}
	}
	if b.Len() == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%s\n%s", o.Style.Paint(Header, o.say("Changes between attempts")), b.String())
	return err
}

// clockTime is the time of day, with the date when that is another one.
func clockTime(at metav1.MicroTime, now time.Time) string {
	local := at.Time.In(now.Location())
	if local.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return local.Format(time.TimeOnly)
	}
	return local.Format(time.DateTime)
}

func outcomeRole(outcome diagnosticsv1alpha1.AttemptOutcome) Role {
	switch outcome {
	case diagnosticsv1alpha1.AttemptPlaced:
		return Good
	case diagnosticsv1alpha1.AttemptUnschedulable:
		return Warn
	}
	return Bad
}

func nodeOfAttempt(attempt *diagnosticsv1alpha1.SchedulingAttempt) string {
	switch {
	case attempt.NodeName != "":
		return attempt.NodeName
	case attempt.NominatedNodeName != "":
		return "nominated to " + attempt.NominatedNodeName
	}
	return "-"
}

// whyAttempt is the best scores for a placement, and the refusals or the scheduler's message for a failure.
func whyAttempt(attempt *diagnosticsv1alpha1.SchedulingAttempt) string {
	var parts []string
	for _, score := range attempt.Scores {
		parts = append(parts, fmt.Sprintf("%s %d", score.Node, score.Total))
	}
	if len(parts) > 0 {
		return fmt.Sprintf("best of %s: %s", phrase.Counted(int(attempt.NodesFeasible), "node"), strings.Join(parts, ", "))
	}
	for _, refusal := range attempt.Refusals {
		parts = append(parts, fmt.Sprintf("%d %s", refusal.Count, strings.TrimPrefix(refusal.Reason, "node(s) ")))
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case attempt.Outcome == diagnosticsv1alpha1.AttemptPlaced:
		return "the only node that passed"
	}
	return attempt.Message
}

func siblings(w io.Writer, list []diagnosticsv1alpha1.SiblingAttempt, o Options) error {
	if len(list) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", o.Style.Paint(Header, o.say("Other pods of the same workload"))); err != nil {
		return err
	}
	t := table{indent: 2, columns: []column{{header: "POD", flexible: 20}, {header: "TIME"}, {header: "OUTCOME"}, {header: "NODE", flexible: 12}}}
	for i := range list {
		node := list[i].NodeName
		if node == "" {
			node = "-"
		}
		t.add(text(list[i].PodName), text(clockTime(list[i].Time, o.Now)), painted(outcomeRole(list[i].Outcome), string(list[i].Outcome)), text(node))
	}
	_, err := t.render(w, o)
	return err
}
