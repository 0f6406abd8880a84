package printer

import (
	"io"
	"strconv"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

var recommendationColumns = []column{
	{header: "NAME", flexible: 16},
	{header: "TARGET", flexible: 16, drop: 4},
	{header: "CONTAINER", flexible: 10, drop: 5},
	{header: "TIER", wide: true},
	{header: "PODS", right: true, drop: 6},
	{header: "CPU-REQ", right: true},
	{header: "CPU-REC", right: true},
	{header: "CPU-BOUNDS", right: true, wide: true},
	{header: "CPU-SAVES", right: true, drop: 2},
	{header: "MEM-REQ", right: true},
	{header: "MEM-REC", right: true},
	{header: "MEM-BOUNDS", right: true, wide: true},
	{header: "MEM-SAVES", right: true, drop: 2},
	{header: "OBSERVED", right: true, drop: 3},
	{header: "APPLY"},
	{header: "AGE", right: true, drop: 1},
	{header: "REASON", flexible: 20, wide: true, says: true},
}

// Recommendations prints a row for each container: what it requests and what is recommended, what that saves in all pods, and how
// it is applied.
func Recommendations(w io.Writer, list *diagnosticsv1alpha1.RecommendationExplanationList, o Options) error {
	l := newListing(recommendationColumns, o)
	for i := range list.Items {
		item := &list.Items[i]
		containers := item.Containers
		if len(containers) == 0 {
			containers = []diagnosticsv1alpha1.ContainerRecommendation{{Name: none, Tier: none}}
		}
		for c := range containers {
			l.add(item, recommendationCells(item, &containers[c], o)...)
		}
	}
	return l.render(w)
}

func recommendationCells(r *diagnosticsv1alpha1.RecommendationExplanation, c *diagnosticsv1alpha1.ContainerRecommendation, o Options) []cell {
	cpu, memory := diagnosticsv1alpha1.MilliCPU, diagnosticsv1alpha1.Bytes
	return []cell{
		text(r.Name), text(r.Target), text(c.Name), text(c.Tier), podsCell(r.Pods),
		requestCell(&c.CPU, cpu), amountCell(c.CPU.Target, cpu), boundsCell(&c.CPU, cpu), savingsCell(c.CPU.Savings, cpu),
		requestCell(&c.Memory, memory), amountCell(c.Memory.Target, memory), boundsCell(&c.Memory, memory), savingsCell(c.Memory.Savings, memory),
		observedCell(c.ConfidenceSeconds, c.Runs), applyCell(&r.Application, o), text(Age(o.Now, r.UpdatedAt)), painted(Dim, r.Application.Message),
	}
}

func podsCell(pods *int32) cell {
	if pods == nil {
		return painted(Dim, unknown)
	}
	return text(strconv.Itoa(int(*pods)))
}

// requestCell stands out when a request is outside of the bounds; pods that differ are shown from the least to the most.
func requestCell(r *diagnosticsv1alpha1.ResourceRecommendation, unit diagnosticsv1alpha1.Unit) cell {
	if r.Requested == nil || r.RequestedLeast == nil {
		return painted(Dim, "-")
	}
	shown := Quantity(*r.Requested, unit)
	if *r.RequestedLeast != *r.Requested {
		shown = Quantity(*r.RequestedLeast, unit) + "-" + shown
	}
	if r.Lower != nil && *r.RequestedLeast < *r.Lower || r.Upper != nil && *r.Requested > *r.Upper {
		return painted(Warn, shown)
	}
	return text(shown)
}

func amountCell(amount *int64, unit diagnosticsv1alpha1.Unit) cell {
	return amountOr(amount, unit, "-")
}

// amountOr is an amount, or a word where there is none.
func amountOr(amount *int64, unit diagnosticsv1alpha1.Unit, word string) cell {
	if amount == nil {
		return painted(Dim, word)
	}
	return text(Quantity(*amount, unit))
}

func boundsCell(r *diagnosticsv1alpha1.ResourceRecommendation, unit diagnosticsv1alpha1.Unit) cell {
	if r.Lower == nil || r.Upper == nil {
		return painted(Dim, "-")
	}
	return text(Quantity(*r.Lower, unit) + "-" + Quantity(*r.Upper, unit))
}

// savingsCell is negative where more is needed.
func savingsCell(amount *int64, unit diagnosticsv1alpha1.Unit) cell {
	switch {
	case amount == nil:
		return painted(Dim, "-")
	case *amount < 0:
		return painted(Warn, Quantity(*amount, unit))
	}
	return text(Quantity(*amount, unit))
}

func observedCell(seconds, runs *int64) cell {
	const day = 24 * 60 * 60
	switch {
	case runs != nil && *runs < enoughRuns:
		return painted(Warn, phrase.Counted(int(*runs), "run"))
	case runs != nil:
		return text(phrase.Counted(int(*runs), "run"))
	case seconds == nil:
		return painted(Dim, unknown)
	case *seconds < day:
		return painted(Warn, Quantity(*seconds, diagnosticsv1alpha1.Seconds))
	}
	return text(Quantity(*seconds, diagnosticsv1alpha1.Seconds))
}

// applyCell is a word and, where colour says more, a mark.
func applyCell(a *diagnosticsv1alpha1.RecommendationApplication, o Options) cell {
	role := applicationRole(a.State)
	word := map[diagnosticsv1alpha1.ApplicationState]string{
		diagnosticsv1alpha1.ApplicationOff: "off", diagnosticsv1alpha1.ApplicationSettled: "settled", diagnosticsv1alpha1.ApplicationDue: "due",
		diagnosticsv1alpha1.ApplicationBlocked: "blocked",
	}[a.State]
	if word == "" {
		return painted(Dim, unknown)
	}
	if role == Dim {
		return painted(Dim, word)
	}
	return styled(o.Style.Mark(role) + " " + o.Style.Paint(role, word))
}

func applicationRole(state diagnosticsv1alpha1.ApplicationState) Role {
	switch state {
	case diagnosticsv1alpha1.ApplicationSettled:
		return Good
	case diagnosticsv1alpha1.ApplicationDue, diagnosticsv1alpha1.ApplicationBlocked:
		return Warn
	}
	return Dim
}
