package tui

import (
	"cmp"
	"strings"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

type settingColumn = grid.Column[settingRow]

// newSettingTable is the table of the configuration, in the order of its keys.
func newSettingTable() *grid.Table[settingRow] {
	return grid.New(settingColumns(), func(r *settingRow) string { return r.name }, func(r *settingRow) string {
		return strings.Join([]string{r.name, r.Value, r.Layer, r.codes()}, " ")
	}, (*settingRow).problem)
}

func settingColumns() []settingColumn {
	return []settingColumn{
		{Title: "KEY", Width: 17, Grow: 1, Max: 30, Compare: func(a, b *settingRow) int { return cmp.Compare(a.at, b.at) },
			Cell: func(r *settingRow, _ int, st *style.Set) string { return st.Dim.Render(cell.Clean(r.Key)) }},
		settingText(settingColumn{Title: "SETTING", Width: 30, Grow: 3, Max: 56}, (*settingRow).below),
		settingText(settingColumn{Title: "VALUE", Width: 8, Grow: 2, Max: 32}, func(r *settingRow) string { return r.Value }),
		{Title: "DEFAULT", Width: 8, Grow: 1, Max: 24, Drop: 1, Cell: func(r *settingRow, _ int, st *style.Set) string {
			return st.Dim.Render(cmp.Or(cell.Clean(r.standard), quantity.None))
		}},
		settingText(settingColumn{Title: "LAYER", Width: 8, Grow: 1, Max: 24, Says: true}, func(r *settingRow) string { return r.Layer }),
		{Title: "FINDINGS", Width: 11, Grow: 1, Max: 24, Compare: func(a, b *settingRow) int {
			return cmp.Or(cmp.Compare(gravity(b), gravity(a)), strings.Compare(a.codes(), b.codes()))
		},
			Cell: findingsCell},
	}
}

// settingText completes a column of texts that is as wide as there is room. What has its default is less bright.
func settingText(c settingColumn, of func(*settingRow) string) settingColumn {
	c.Ends = true
	c.Compare = func(a, b *settingRow) int { return strings.Compare(of(a), of(b)) }
	c.Cell = func(r *settingRow, _ int, st *style.Set) string {
		text := translated(c.Says, st, cell.Clean(of(r)))
		switch {
		case text == "":
			return st.Faint.Render(quantity.None)
		case r.isDefault():
			return st.Plain.Render(text)
		}
		return st.Bold.Render(text)
	}
	return c
}

// gravity orders rows by the worst that is wrong with them.
func gravity(r *settingRow) int {
	f := r.worst()
	if f == nil {
		return 0
	}
	switch printer.SeverityRole(f.Severity) {
	case printer.Bad:
		return 3
	case printer.Warn:
		return 2
	}
	return 1
}

func findingsCell(r *settingRow, _ int, st *style.Set) string {
	f := r.worst()
	if f == nil {
		return st.Faint.Render(quantity.None)
	}
	mark, text := roleStyle(printer.SeverityRole(f.Severity), st)
	return text.Render(mark + " " + r.codes())
}
