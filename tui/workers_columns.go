package tui

import (
	"cmp"
	"strings"
	"time"

	"koordinator.sh/koord/decision/noderesource/workersview"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

type workersColumn = grid.Column[workersRow]

// newWorkersTable is the table of ElasticWorkers. The clock is for how long ago koord-manager decided.
func newWorkersTable(now func() time.Time) *grid.Table[workersRow] {
	return grid.New(workersColumns(now), workersKey, func(r *workersRow) string {
		return strings.Join([]string{workersKey(r), r.State, r.Target, r.LimitedBy, r.Message}, " ")
	}, workersProblem)
}

func workersColumns(now func() time.Time) []workersColumn {
	return []workersColumn{
		{Title: namespaceColumn, Width: 9, Max: 24, Compare: func(a, b *workersRow) int { return strings.Compare(workersKey(a), workersKey(b)) },
			Text: func(r *workersRow) string { return cell.Clean(r.Namespace) },
			Cell: func(r *workersRow, _ int, st *style.Set) string { return st.Dim.Render(cell.Clean(r.Namespace)) }},
		textColumn(workersColumn{Title: "NAME", Width: 8, Max: 40, Ends: true}, func(r *workersRow) string { return r.Name }),
		textColumn(workersColumn{Title: "TARGET", Width: 12, Max: 50, Ends: true, Drop: 3}, func(r *workersRow) string { return r.Target }),
		{Title: "STATE", Width: 8, Max: 18, Compare: func(a, b *workersRow) int { return cmp.Compare(workersview.Rank(b.State), workersview.Rank(a.State)) },
			Text: func(r *workersRow) string { return "  " + cell.Clean(r.State) },
			Cell: func(r *workersRow, _ int, st *style.Set) string {
				glyph, text := workersMark(r.WorkersExplanation, st)
				return text.Render(glyph + " " + cell.Clean(r.State))
			}},
		workersSize("CURRENT", func(r *workersRow) int32 { return r.Current }),
		workersSize("DESIRED", func(r *workersRow) int32 { return r.Desired }),
		workersBound("MIN", 5, func(r *workersRow) int32 { return r.Min }),
		workersBound("MAX", 4, func(r *workersRow) int32 { return r.Max }),
		textColumn(workersColumn{Title: "LIMITED-BY", Width: 10, Max: 20, Drop: 1}, func(r *workersRow) string { return r.LimitedBy }),
		{Title: "DRAINING", Width: 9, Right: true, Compare: func(a, b *workersRow) int { return cmp.Compare(len(a.Draining), len(b.Draining)) }, Cell: drainingCell},
		{Title: "AGE", Width: 5, Right: true, Drop: 2, Compare: func(a, b *workersRow) int { return byMoment(b.DecidedAt, a.DecidedAt) },
			Cell: func(r *workersRow, _ int, st *style.Set) string { return sinceCell(r.DecidedAt, now(), st) }},
		textColumn(workersColumn{Title: "REASON", Width: 24, Max: 90, Wide: true, Drop: 6, Says: true}, func(r *workersRow) string { return r.Message }),
	}
}

// workersSize is a column of numbers of workers, which targets that are not sized do not have.
func workersSize(title string, of func(*workersRow) int32) workersColumn {
	sized := func(r *workersRow) int32 {
		if !workersview.HasSize(r.WorkersExplanation) {
			return -1
		}
		return of(r)
	}
	return workersColumn{
		Title: title, Width: len(title) + 1, Right: true, Compare: func(a, b *workersRow) int { return cmp.Compare(sized(a), sized(b)) },
		Cell: func(r *workersRow, _ int, st *style.Set) string {
			if sized(r) < 0 {
				return st.Faint.Render(quantity.None)
			}
			return st.Bold.Render(quantity.Count(int64(of(r))))
		},
	}
}

func workersBound(title string, drop int, of func(*workersRow) int32) workersColumn {
	return workersColumn{
		Title: title, Width: 4, Right: true, Drop: drop, Compare: func(a, b *workersRow) int { return cmp.Compare(of(a), of(b)) },
		Cell: func(r *workersRow, _ int, st *style.Set) string { return st.Dim.Render(quantity.Count(int64(of(r)))) },
	}
}

func drainingCell(r *workersRow, _ int, st *style.Set) string {
	if len(r.Draining) == 0 {
		return st.Faint.Render(quantity.None)
	}
	return st.Warn.Render(quantity.Count(int64(len(r.Draining))))
}
