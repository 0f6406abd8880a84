package objects

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/phrase"
)

// conclude fills in the verdict, the sentence, the findings and the notes.
func (f *placementForecast) conclude() {
	if f.in.Copied != nil && (f.answer.Copies == nil || f.answer.Copies.Verdict == diagnosticsv1alpha1.PlacementGone || f.answer.Copies.Verdict == diagnosticsv1alpha1.PlacementOtherScheduler) {
		f.answer.Verdict, f.answer.Message = diagnosticsv1alpha1.PlacementUnknown, "koord-scheduler did not answer about new pods "+f.subject()
		if f.answer.Copies != nil {
			f.answer.Message = "where new pods " + f.subject() + " go is unknown: " + f.answer.Copies.Summary
		}
		return
	}
	var parts []string
	if f.in.Waiting {
		parts = append(parts, f.ofWaiting())
	}
	if f.in.Copied != nil {
		parts = append(parts, f.ofCopies())
	}
	f.answer.Message = strings.Join(parts, "; ")
	f.notes()
}

// ofWaiting concludes from the pods that wait.
func (f *placementForecast) ofWaiting() string {
	placed, without, refused, gated := f.waitingCounts()
	f.answer.Verdict = verdictOf(placed, refused)
	all := placed + refused + gated
	if all == 0 {
		return "no pod waits for a node"
	}
	text := fmt.Sprintf("%d of %s a node", placed, waitingPods(all))
	var with []string
	if len(f.in.NewNodes) > 0 {
		with = append(with, phrase.Counted(len(f.answer.NewNodes), "more node"))
	}
	if f.answer.Offers > 0 {
		with = append(with, "changed offers of "+phrase.Counted(int(f.answer.Offers), "node"))
	}
	if len(with) > 0 {
		text += " with " + strings.Join(with, " and ")
	}
	if f.compared {
		text += fmt.Sprintf(", %d without", without)
	}
	if gated > 0 {
		text += fmt.Sprintf("; %d gated", gated)
	}
	f.refusedWaiting(refused)
	return text
}

// waitingCounts counts the waiting pods that get a node, those of them that get one without the new nodes and offers, those that get none, and those
// that are not tried.
func (f *placementForecast) waitingCounts() (placed, without, refused, gated int32) {
	for i := range f.answer.Waiting {
		pod := &f.answer.Waiting[i]
		switch pod.Verdict {
		case diagnosticsv1alpha1.PlacementFound:
			placed++
			if pod.NodeWithout != "" {
				without++
			}
		case diagnosticsv1alpha1.PlacementGated:
			gated++
		default:
			refused++
		}
	}
	return placed, without, refused, gated
}

func waitingPods(n int32) string {
	if n == 1 {
		return "1 waiting pod gets"
	}
	return fmt.Sprintf("%d waiting pods get", n)
}

// refusedWaiting is one finding for all waiting pods that get no node.
func (f *placementForecast) refusedWaiting(refused int32) {
	if refused == 0 {
		return
	}
	at := slices.IndexFunc(f.answer.Waiting, func(p diagnosticsv1alpha1.WaitingPlacement) bool {
		return p.Verdict != diagnosticsv1alpha1.PlacementFound && p.Verdict != diagnosticsv1alpha1.PlacementGated
	})
	first := &f.answer.Waiting[at]
	f.found("koordctl explain pod "+first.Name+" -n "+first.Namespace, "%s no node, such as %s/%s: %s", waitingPods(refused), first.Namespace, first.Name, first.Summary)
}

// ofCopies concludes from the copies, which matter more than the pods that wait.
func (f *placementForecast) ofCopies() string {
	c := f.answer.Copies
	refused := c.Verdict == diagnosticsv1alpha1.PlacementNone
	f.answer.Verdict = diagnosticsv1alpha1.PlacementFits
	switch {
	case c.Placed == 0:
		f.answer.Verdict = diagnosticsv1alpha1.PlacementFull
		text := fmt.Sprintf("no node takes another pod %s: %s", f.subject(), c.Summary)
		f.found("", "%s", text)
		return text
	case refused && !f.in.AsMany:
		f.answer.Verdict = diagnosticsv1alpha1.PlacementPartial
		f.found("", "%s: %s", f.morePods(c.Asked-c.Placed, "gets no node", "get no node"), c.Summary)
	}
	text := f.count() + f.where()
	if refused {
		text += "; the next one is refused: " + c.Summary
	}
	return text
}

// count says how many copies get a node.
func (f *placementForecast) count() string {
	c := f.answer.Copies
	switch {
	case f.in.AsMany && c.Verdict == diagnosticsv1alpha1.PlacementFound:
		return "at least " + f.morePods(c.Placed, "fits", "fit")
	case f.in.AsMany:
		return f.morePods(c.Placed, "fits", "fit")
	case c.Placed == c.Asked:
		return f.morePods(c.Placed, "gets a node", "get nodes")
	}
	return fmt.Sprintf("%d of %s", c.Placed, f.morePods(c.Asked, "get a node", "get nodes"))
}

func (f *placementForecast) morePods(n int32, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("1 more pod %s %s", f.subject(), one)
	}
	return fmt.Sprintf("%d more pods %s %s", n, f.subject(), many)
}

// where names the nodes that take most of the copies.
func (f *placementForecast) where() string {
	const most = 3
	nodes := slices.Clone(f.answer.Copies.Nodes)
	slices.SortStableFunc(nodes, func(a, b diagnosticsv1alpha1.CopiesOnNode) int { return cmp.Compare(b.Copies, a.Copies) })
	parts := make([]string, 0, most+1)
	for _, node := range nodes[:min(len(nodes), most)] {
		parts = append(parts, fmt.Sprintf("%d on %s", node.Copies, node.Name))
	}
	if rest := len(nodes) - most; rest > 0 {
		parts = append(parts, "others on "+phrase.Counted(rest, "more node"))
	}
	return ": " + strings.Join(parts, ", ")
}

func verdictOf(placed, refused int32) diagnosticsv1alpha1.PlacementForecastVerdict {
	switch {
	case refused == 0:
		return diagnosticsv1alpha1.PlacementFits
	case placed == 0:
		return diagnosticsv1alpha1.PlacementFull
	}
	return diagnosticsv1alpha1.PlacementPartial
}

func (f *placementForecast) found(hint, format string, values ...any) {
	f.answer.Findings = append(f.answer.Findings, diagnosticsv1alpha1.Finding{
		Code: string(finding.PlacementRefused), Severity: diagnosticsv1alpha1.SeverityError, Message: fmt.Sprintf(format, values...), Hint: hint,
	})
}

func (f *placementForecast) notes() {
	note := func(text string) { f.answer.Notes = append(f.answer.Notes, text) }
	if f.answer.Copies != nil {
		note("new pods are taken to be like pod " + f.in.Copied.Name + ", and to be scheduled one after the other; among nodes that score the same, the scheduler chooses at random")
	}
	if f.answer.Copies != nil && !f.in.Waiting {
		note("pods that wait for a node now are not placed before them")
	}
	if len(f.in.Offers) > 0 {
		note("pods stay on nodes that offer less than they request, and quotas keep their runtime")
	}
	if len(f.in.NewNodes) > 0 {
		note("new nodes have the pods of DaemonSets and the mirror pods of the nodes that they are like, and report the same usage")
	}
}
