package tui

import (
	"cmp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

type gangColumn = grid.Column[gangRow]

// newGangTable is the table of gangs.
func newGangTable(now func() time.Time) *grid.Table[gangRow] {
	return grid.New(gangColumns(now), gangKey, func(r *gangRow) string {
		return strings.Join([]string{gangKey(r), r.state.word(), r.Status.OccupiedBy, r.why}, " ")
	}, gangProblem)
}

func gangColumns(now func() time.Time) []gangColumn {
	count := func(title string, drop int, of func(*gangRow) int) gangColumn {
		return gangColumn{
			Title: title, Width: len(title) + 1, Right: true, Drop: drop, Compare: func(a, b *gangRow) int { return cmp.Compare(of(a), of(b)) },
			Cell: func(r *gangRow, _ int, st *style.Set) string { return st.Plain.Render(quantity.Count(int64(of(r)))) },
		}
	}
	return []gangColumn{
		textColumn(gangColumn{Title: "NAME", Width: 14, Max: 60, Ends: true}, gangKey),
		{Title: "STATE", Width: 12, Compare: func(a, b *gangRow) int { return cmp.Compare(b.state.rank(), a.state.rank()) },
			Cell: func(r *gangRow, _ int, st *style.Set) string {
				glyph, text := r.state.mark(st)
				return text.Render(glyph + " " + r.state.word())
			}},
		{Title: "MEMBERS", Width: 12, Grow: 1, Max: 40, Drop: 2, Cell: func(r *gangRow, w int, st *style.Set) string { return gangBar(r.Gang, w, st) }},
		count("PODS", 0, func(r *gangRow) int { return len(r.Members) }),
		count("NODES", 0, func(r *gangRow) int { return int(r.Status.Scheduled) }),
		count("RUN", 0, func(r *gangRow) int { return int(r.Status.Running + r.Status.Succeeded) }),
		{Title: "MIN", Width: 4, Right: true, Cell: func(r *gangRow, _ int, st *style.Set) string { return st.Dim.Render(gangMinimum(r.Gang)) }},
		{Title: "SINCE", Width: 6, Right: true, Drop: 1, Compare: func(a, b *gangRow) int { return byMoment(gangStart(a.Gang), gangStart(b.Gang)) },
			Cell: func(r *gangRow, _ int, st *style.Set) string { return sinceCell(gangStart(r.Gang), now(), st) }},
		{Title: "MODE", Width: 10, Wide: true, Drop: 3, Cell: func(r *gangRow, _ int, st *style.Set) string { return st.Dim.Render(gangMode(r.Gang)) }},
	}
}

func gangMinimum(g *source.Gang) string {
	if g.Spec == nil || g.Spec.MinMember == 0 {
		return quantity.None
	}
	return quantity.Count(int64(g.Spec.MinMember))
}

func gangMode(g *source.Gang) string {
	if g.Spec == nil {
		return quantity.None
	}
	return cell.Clean(string(g.Spec.Mode))
}

// gangStart is when scheduling began; nil where that is not recorded.
func gangStart(g *source.Gang) *metav1.Time {
	if g.Status.ScheduleStartTime.IsZero() {
		return nil
	}
	return &g.Status.ScheduleStartTime
}

// gangBar draws the members that run, have a node, exist, and are missing of those that are needed.
func gangBar(g *source.Gang, width int, st *style.Set) string {
	needed := 0
	if g.Spec != nil {
		needed = int(g.Spec.MinMember)
	}
	ran, bound, exist := int(g.Status.Running+g.Status.Succeeded), int(g.Status.Scheduled), len(g.Members)
	whole := max(needed, exist, 1)
	var b strings.Builder
	for i := range width {
		at := (float64(i) + 0.5) / float64(width) * float64(whole)
		switch {
		case at < float64(ran):
			st.OK.Write(&b, st.Full)
		case at < float64(bound):
			st.Info.Write(&b, st.Areas.Patterns[style.Mid])
		case at < float64(exist):
			st.Warn.Write(&b, st.Areas.Patterns[style.BatchFree])
		default:
			st.Bad.Write(&b, st.Limit)
		}
	}
	return b.String()
}
