package printer

import (
	"fmt"
	"io"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/jobview"
)

// JobExplanation prints what keeps a Job from running, and who.
func JobExplanation(w io.Writer, e *diagnosticsv1alpha1.JobExplanation, o Options) error {
	var b strings.Builder
	role := jobRole(e)
	line := o.Style.Mark(role) + " " + o.Style.Paint(role, o.Style.Clean(string(e.State))) + ": " + o.Style.Paint(Strong, o.say(e.Summary))
	if e.Code != "" {
		line += o.Style.Paint(Dim, " ["+o.Style.Clean(e.Code)+"]")
	}
	wrapped(&b, o, 0, line)
	wrapped(&b, o, 0, jobLine(e, o))
	if e.HeldBy != "" {
		wrapped(&b, o, 2, o.say("held by "+e.HeldBy))
	}
	if e.Queue != nil {
		wrapped(&b, o, 2, o.say(jobview.QueueText(e.Queue)))
	}
	if e.WaitingPod != "" {
		wrapped(&b, o, 2, o.say("the oldest pod without a node is "+e.WaitingPod))
	}
	rest, hint := besidesSummary(e)
	if hint != "" {
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.label("hint"))+Called(o.Program, o.say(hint)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return findings(w, rest, o)
}

// besidesSummary are the findings that say something else than the summary, and the hint of the one that does not.
func besidesSummary(e *diagnosticsv1alpha1.JobExplanation) (rest []diagnosticsv1alpha1.Finding, hint string) {
	for i := range e.Findings {
		if f := &e.Findings[i]; f.Message == e.Summary {
			hint = f.Hint
		} else {
			rest = append(rest, *f)
		}
	}
	return rest, hint
}

func jobLine(e *diagnosticsv1alpha1.JobExplanation, o Options) string {
	p := &e.Pods
	return o.Style.Paint(Strong, o.Style.Clean(e.Namespace+"/"+e.Name)) + "; " +
		o.say(fmt.Sprintf("pods: %d without a node, %d on nodes, %d succeeded, %d failed", p.Waiting, p.Bound, p.Succeeded, p.Failed))
}

// jobRole is bad where pods are refused: that Kueue lets a Job wait is what it is for.
func jobRole(e *diagnosticsv1alpha1.JobExplanation) Role {
	switch e.State {
	case diagnosticsv1alpha1.JobFailed, diagnosticsv1alpha1.JobWaiting:
		return Bad
	case diagnosticsv1alpha1.JobRunning, diagnosticsv1alpha1.JobComplete:
		return Good
	}
	return Warn
}
