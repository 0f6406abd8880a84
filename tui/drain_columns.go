package tui

import (
	"cmp"
	"strings"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// drainFromColumn is left out where one node is drained.
const drainFromColumn = "FROM"

// drainRow is a pod of a drained node, and its place in the answer: what goes wrong comes first, and then the order of eviction.
type drainRow struct {
	*diagnostics.DrainedPod
	at int
}

func drainRows(f *diagnostics.DrainForecast) []drainRow {
	rows := make([]drainRow, len(f.Pods))
	for i := range f.Pods {
		rows[i] = drainRow{&f.Pods[i], i}
	}
	return rows
}

// drainProblem selects pods for problems-only mode: those that are blocked, and those that do not come back as far as is known.
func drainProblem(r *drainRow) bool {
	switch r.Place {
	case diagnostics.DrainPlaceNone, diagnostics.DrainPlaceLost, diagnostics.DrainPlaceUnknown:
		return true
	}
	return r.Blocked != ""
}

// newDrainTable is the table of pods of drained nodes.
func newDrainTable() *grid.Table[drainRow] {
	key := func(r *drainRow) string { return r.Namespace + "/" + r.Name }
	return grid.New(drainColumns(), key, func(r *drainRow) string {
		_, round := printer.DrainRound(r.DrainedPod)
		return strings.Join([]string{key(r), round, r.Node, r.To, r.Owner, r.Budget, printer.DrainReason(r.DrainedPod)}, " ")
	}, drainProblem)
}

func drainColumns() []grid.Column[drainRow] {
	type column = grid.Column[drainRow]
	return []column{
		drainColumn(column{Title: "ROUND", Width: 7, Right: true, Compare: func(a, b *drainRow) int { return cmp.Compare(a.at, b.at) }}, printer.DrainRound),
		textColumn(column{Title: "POD", Width: 16, Max: 64, Ends: true}, func(r *drainRow) string { return r.Namespace + "/" + r.Name }),
		textColumn(column{Title: drainFromColumn, Width: 8, Max: 40}, func(r *drainRow) string { return r.Node }),
		drainColumn(column{Title: "TO", Width: 9, Max: 40, Compare: func(a, b *drainRow) int { return strings.Compare(a.To, b.To) }}, printer.DrainTo),
		textColumn(column{Title: "REASON", Says: true, Width: 20, Max: 80}, func(r *drainRow) string { return printer.DrainReason(r.DrainedPod) }),
		textColumn(column{Title: "PDB", Width: 8, Max: 24, Drop: 1}, func(r *drainRow) string { return r.Budget }),
		textColumn(column{Title: "OWNER", Width: 12, Max: 40, Wide: true, Drop: 2}, func(r *drainRow) string { return r.Owner }),
		textColumn(column{Title: "REQUESTS", Width: 12, Max: 60, Wide: true, Drop: 3}, func(r *drainRow) string { return printer.ForecastAmounts(r.Requests) }),
		textColumn(column{Title: "FLAGS", Width: 8, Max: 44, Wide: true, Drop: 4}, func(r *drainRow) string { return strings.Join(r.Flags, ",") }),
	}
}

// drainColumn completes a column of what the command line prints in a role.
func drainColumn(c grid.Column[drainRow], of func(*diagnostics.DrainedPod) (printer.Role, string)) grid.Column[drainRow] {
	text := func(r *drainRow) (printer.Role, string) {
		role, text := of(r.DrainedPod)
		return role, cmp.Or(cell.Clean(text), quantity.None)
	}
	c.Text = func(r *drainRow) string { _, t := text(r); return t }
	c.Cell = func(r *drainRow, _ int, st *style.Set) string {
		role, t := text(r)
		_, look := roleStyle(role, st)
		return look.Render(t)
	}
	return c
}
