package messages

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Columns aligns rows of cells with a gap between the columns, in cells of a terminal, of which a Chinese character takes two. What ends a
// row is not filled, and does not widen its column.
func Columns(rows [][]string, gap int) []string {
	var widths []int
	for _, row := range rows {
		for i := range len(row) - 1 {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
		}
	}
	lines := make([]string, len(rows))
	for r, row := range rows {
		var line strings.Builder
		for i, text := range row {
			line.WriteString(text)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(text)+gap))
			}
		}
		lines[r] = line.String()
	}
	return lines
}
