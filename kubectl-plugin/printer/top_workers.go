package printer

import (
	"io"
	"strconv"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/workersview"
)

var workersColumns = []column{
	{header: "NAME", flexible: 12},
	{header: "TARGET", flexible: 16, drop: 3},
	{header: "STATE"},
	{header: "CURRENT", right: true},
	{header: "DESIRED", right: true},
	{header: "MIN", right: true, drop: 5},
	{header: "MAX", right: true, drop: 4},
	{header: "LIMITED-BY", drop: 1},
	{header: "DRAINING", right: true},
	{header: "AGE", right: true, drop: 2},
	{header: "REASON", flexible: 24, wide: true, says: true},
}

// WorkersList prints ElasticWorkers as rows: how many workers each engine has and gets, its bounds, and what limits it.
func WorkersList(w io.Writer, list *diagnosticsv1alpha1.WorkersExplanationList, o Options) error {
	l := newListing(workersColumns, o)
	for i := range list.Items {
		l.add(&list.Items[i], workersCells(&list.Items[i], o)...)
	}
	return l.render(w)
}

func workersCells(e *diagnosticsv1alpha1.WorkersExplanation, o Options) []cell {
	current, desired := painted(Dim, "-"), painted(Dim, "-")
	if workersview.HasSize(e) {
		current, desired = text(strconv.Itoa(int(e.Current))), text(strconv.Itoa(int(e.Desired)))
	}
	draining := painted(Dim, "0")
	if len(e.Draining) > 0 {
		draining = painted(Warn, strconv.Itoa(len(e.Draining)))
	}
	return []cell{
		text(e.Name), text(e.Target), painted(workersStateRole(e), e.State), current, desired,
		text(strconv.Itoa(int(e.Min))), text(strconv.Itoa(int(e.Max))), text(orNone(e.LimitedBy)), draining, text(Age(o.Now, e.DecidedAt)), painted(Dim, e.Message),
	}
}
