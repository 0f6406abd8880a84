package tui

import (
	"github.com/charmbracelet/x/ansi"

	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/style"
)

// cellsOf are the cells of a row by the title of their column, without styles.
func cellsOf[R any](columns []grid.Column[R], row *R) map[string]string {
	out := map[string]string{}
	for _, c := range columns {
		out[c.Title] = ansi.Strip(c.Cell(row, max(c.Width, 8), style.New(asciiLook)))
	}
	return out
}

// orderBy sorts by a column, the largest first where that is said, and returns the keys from first to last.
func orderBy[R any](table *grid.Table[R], title string, largestFirst bool) []string {
	table.SetSize(300, 100)
	table.SortBy(title, largestFirst)
	var out []string
	for i := range table.Len() {
		table.Move(i - table.Cursor())
		out = append(out, keyOfRow(table.Selected()))
	}
	return out
}

func keyOfRow(row any) string {
	switch r := row.(type) {
	case *nodeRow:
		return r.Name
	case *podRow:
		return r.Name
	}
	return ""
}
