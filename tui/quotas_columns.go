package tui

import (
	"cmp"
	"strings"

	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

type quotaColumn = grid.Column[quotaRow]

// newQuotaTable is the table of ElasticQuotas. In the order of NAME it is a tree.
func newQuotaTable() *grid.Table[quotaRow] {
	return grid.New(quotaColumns(), func(r *quotaRow) string { return r.Namespace + "/" + r.Name }, func(r *quotaRow) string {
		return strings.Join([]string{r.Namespace + "/" + r.Name, r.state.word(), r.TreeID, r.Parent}, " ")
	}, quotaProblem)
}

func quotaColumns() []quotaColumn {
	number := func(title string, drop int, of func(*quotaRow) *int64) quotaColumn {
		return quotaColumn{
			Title: title, Right: true, Drop: drop, Compare: func(a, b *quotaRow) int { return cmp.Compare(valueOr(of(a), -1), valueOr(of(b), -1)) },
			Text: func(r *quotaRow) string { return r.write(of(r)) },
			Cell: func(r *quotaRow, _ int, st *style.Set) string { return quotaCell(r, of(r), st) },
		}
	}
	return []quotaColumn{
		{Title: "NAME", Width: 12, Max: 48, Compare: func(a, b *quotaRow) int { return cmp.Compare(a.at, b.at) }, Text: quotaName,
			Cell: func(r *quotaRow, _ int, st *style.Set) string { return st.Bold.Render(quotaName(r)) }},
		{Title: "STATE", Width: 10, Compare: func(a, b *quotaRow) int { return cmp.Compare(b.state, a.state) },
			Cell: func(r *quotaRow, _ int, st *style.Set) string {
				glyph, text := r.state.mark(st)
				return text.Render(glyph + " " + r.state.word())
			}},
		{Title: "USE", Width: 12, Grow: 1, Max: 44, Drop: 3, Cell: func(r *quotaRow, w int, st *style.Set) string { return quotaBar(&r.quotaAmounts, w, st) }},
		number("USED", 0, func(r *quotaRow) *int64 { return r.used }),
		number("RUNTIME", 0, func(r *quotaRow) *int64 { return r.runtime }),
		number("REQUEST", 1, func(r *quotaRow) *int64 { return r.request }),
		number("MIN", 2, func(r *quotaRow) *int64 { return r.min }),
		number("MAX", 4, func(r *quotaRow) *int64 { return r.max }),
		textColumn(quotaColumn{Title: "NAMESPACE", Width: 9, Max: 32, Drop: 5}, func(r *quotaRow) string { return r.Namespace }),
		textColumn(quotaColumn{Title: "TREE", Width: 6, Max: 32, Wide: true, Drop: 6}, func(r *quotaRow) string { return r.TreeID }),
	}
}

func valueOr(v *int64, otherwise int64) int64 {
	if v == nil {
		return otherwise
	}
	return *v
}

// bounded is an amount that a bar can be measured by: 0 for one that is not known, or without a limit.
func bounded(v *int64) int64 {
	if v == nil || *v == quota.Unlimited {
		return 0
	}
	return *v
}

// quotaName is the name, further in the deeper it is in its tree.
func quotaName(r *quotaRow) string { return cell.Blank(2*r.Depth) + cell.Clean(r.Name) }

func quotaCell(r *quotaRow, v *int64, st *style.Set) string {
	text := r.write(v)
	switch {
	case text == quantity.None:
		return st.Faint.Render(text)
	case v == r.used && exceeds(r.used, r.runtime):
		return st.Bad.Render(text)
	case v == r.request && exceeds(r.request, r.runtime):
		return st.Warn.Render(text)
	}
	return st.Plain.Render(text)
}

// quotaPart is a part of the bar of a quota.
type quotaPart int

const (
	quotaUsed quotaPart = iota
	quotaBorrowed
	quotaAsked
	quotaFree
	quotaBeyond
)

// draw is the glyph of a part and its style.
func (p quotaPart) draw(st *style.Set) (string, style.Style) {
	switch p {
	case quotaUsed:
		return st.Full, st.OK
	case quotaBorrowed:
		return st.Areas.Patterns[style.Mid], st.Info
	case quotaAsked:
		return st.Areas.Patterns[style.System], st.Warn
	case quotaFree:
		return st.Areas.Patterns[style.BatchFree], st.Faint
	}
	return " ", st.Plain
}

// quotaBar draws what is used, within min and beyond it, what is free of the runtime, and what is requested beyond the runtime, of the
// largest of them. A line marks min.
func quotaBar(a *quotaAmounts, width int, st *style.Set) string {
	whole := max(bounded(a.min), bounded(a.runtime), bounded(a.used), bounded(a.request))
	if whole <= 0 || a.runtime == nil && valueOr(a.used, 0) == 0 {
		return st.Faint.Render(strings.Repeat(st.Limit, width))
	}
	mark := -1
	if a.min != nil && *a.min > 0 && *a.min < whole {
		mark = min(int(float64(*a.min)/float64(whole)*float64(width)), width-1)
	}
	var b strings.Builder
	for i := range width {
		if i == mark {
			st.Bold.Write(&b, st.Line)
			continue
		}
		at := (float64(i) + 0.5) / float64(width) * float64(whole)
		glyph, text := a.part(at).draw(st)
		text.Write(&b, glyph)
	}
	return b.String()
}

func (a *quotaAmounts) part(at float64) quotaPart {
	switch {
	case at < float64(valueOr(a.used, 0)) && at < float64(valueOr(a.min, 0)):
		return quotaUsed
	case at < float64(valueOr(a.used, 0)):
		return quotaBorrowed
	case at < float64(valueOr(a.runtime, 0)):
		return quotaFree
	case at < float64(valueOr(a.request, 0)):
		return quotaAsked
	}
	return quotaBeyond
}

// quotaLegend says what the bars mean.
func (m *Model) quotaLegend(width int) []string {
	st, line := m.st, " "
	for _, l := range []struct {
		part quotaPart
		text string
	}{{quotaUsed, "used"}, {quotaBorrowed, "borrowed"}, {quotaFree, "free of runtime"}, {quotaAsked, "requested beyond"}} {
		glyph, text := l.part.draw(st)
		line += text.Render(glyph) + " " + st.Dim.Render(l.text) + "  "
	}
	line += st.Bold.Render(st.Line) + " " + st.Dim.Render("min")
	return []string{cell.Truncate(line, width, st.Ellipsis)}
}
