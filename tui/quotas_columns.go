package tui

import (
	"cmp"
	"strings"

	"koordinator.sh/koord/decision/scheduling/quotaview"
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
			Text: func(r *quotaRow) string { return r.amounts.write(of(r)) },
			Cell: func(r *quotaRow, _ int, st *style.Set) string { return quotaCell(r, of(r), st) },
		}
	}
	return []quotaColumn{
		{Title: "NAME", Width: 12, Max: 48, Ends: true, Compare: func(a, b *quotaRow) int { return cmp.Compare(a.at, b.at) }, Text: quotaName,
			Cell: func(r *quotaRow, _ int, st *style.Set) string { return st.Bold.Render(quotaName(r)) }},
		{Title: "STATE", Width: 10, Compare: func(a, b *quotaRow) int { return cmp.Compare(b.state.rank(), a.state.rank()) },
			Cell: func(r *quotaRow, _ int, st *style.Set) string {
				glyph, text := r.state.mark(st)
				return text.Render(glyph + " " + r.state.word())
			}},
		{Title: "USE", Width: 12, Grow: 1, Max: 44, Drop: 3, Cell: func(r *quotaRow, w int, st *style.Set) string { return quotaBar(&r.amounts, w, st) }},
		number("USED", 0, func(r *quotaRow) *int64 { return r.amounts.Used }),
		number("RUNTIME", 0, func(r *quotaRow) *int64 { return r.amounts.Runtime }),
		number("REQUEST", 1, func(r *quotaRow) *int64 { return r.amounts.Request }),
		number("MIN", 2, func(r *quotaRow) *int64 { return r.amounts.Min }),
		number("MAX", 4, func(r *quotaRow) *int64 { return r.amounts.Max }),
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

// quotaName is the name, further in the deeper it is in its tree.
func quotaName(r *quotaRow) string { return cell.Blank(2*r.Depth) + cell.Clean(r.Name) }

func quotaCell(r *quotaRow, v *int64, st *style.Set) string {
	text := r.amounts.write(v)
	switch {
	case text == quantity.None:
		return st.Faint.Render(text)
	case v == r.amounts.Used && quotaview.Exceeds(r.amounts.Used, r.amounts.Runtime):
		return st.Bad.Render(text)
	case v == r.amounts.Request && quotaview.Exceeds(r.amounts.Request, r.amounts.Runtime):
		return st.Warn.Render(text)
	}
	return st.Plain.Render(text)
}

// drawPart is the glyph of a part of the bar of a quota, and its style.
func drawPart(p quotaview.Part, st *style.Set) (string, style.Style) {
	switch p {
	case quotaview.Used:
		return st.Full, st.OK
	case quotaview.Borrowed:
		return st.Areas.Patterns[style.Mid], st.Info
	case quotaview.Asked:
		return st.Areas.Patterns[style.System], st.Warn
	case quotaview.Free:
		return st.Areas.Patterns[style.BatchFree], st.Faint
	case quotaview.MinMark:
		return st.Line, st.Bold
	}
	return " ", st.Plain
}

// quotaBar draws what is used, free and requested of one resource. A line marks min.
func quotaBar(a *quotaAmounts, width int, st *style.Set) string {
	parts := quotaview.Bar((*quotaview.Amounts)(a), width)
	if parts == nil {
		return st.Faint.Render(strings.Repeat(st.Limit, width))
	}
	var b strings.Builder
	for _, part := range parts {
		glyph, text := drawPart(part, st)
		text.Write(&b, glyph)
	}
	return b.String()
}

// quotaLegend says what the bars mean.
func (m *Model) quotaLegend(width int) []string {
	st, line := m.st, " "
	for _, l := range []struct {
		part quotaview.Part
		text string
	}{{quotaview.Used, "used"}, {quotaview.Borrowed, "borrowed"}, {quotaview.Free, "free of runtime"}, {quotaview.Asked, "requested beyond"}} {
		glyph, text := drawPart(l.part, st)
		line += text.Render(glyph) + " " + st.Dim.Render(st.Say(l.text)) + "  "
	}
	line += st.Bold.Render(st.Line) + " " + st.Dim.Render(st.Say("min"))
	return []string{cell.Truncate(line, width, st.Ellipsis)}
}
