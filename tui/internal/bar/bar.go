// Package bar draws one stacked bar in a line of cells.
package bar

import (
	"strings"

	"koordinator.sh/koord/tui/internal/stack"
	"koordinator.sh/koord/tui/internal/story"
	"koordinator.sh/koord/tui/internal/style"
)

// Draw returns a bar of exactly width cells. Where nothing was measured it is a dotted line, never an empty bar that
// could be read as an idle node.
func Draw(p story.Parts, width int, st *style.Set) string {
	if width <= 0 {
		return ""
	}
	if p.Measured == 0 {
		return st.Faint.Render(strings.Repeat(st.Limit, width))
	}
	cells := stack.Split(make([]stack.Cell, 0, width), p.Values(story.BarOrder), p.Capacity, width)
	var b strings.Builder
	for i := 0; i < len(cells); {
		run := i + 1
		for run < len(cells) && cells[run] == cells[i] {
			run++
		}
		drawRun(&b, cells[i], run-i, st)
		i = run
	}
	return b.String()
}

func drawRun(b *strings.Builder, c stack.Cell, n int, st *style.Set) {
	if !st.Areas.Colour() {
		area := areaOf(c.Major)
		st.Areas.Pair(area, -1).Write(b, strings.Repeat(st.Areas.Patterns[area], n))
		return
	}
	glyph := st.Full
	if c.Fill < stack.Eighths {
		glyph = st.Run[c.Fill]
	}
	st.Areas.Pair(areaOf(c.Lower), areaOf(c.Upper)).Write(b, strings.Repeat(glyph, n))
}

func areaOf(index int) style.Area {
	if index < 0 || index >= len(story.BarOrder) {
		return style.Rest
	}
	return story.BarOrder[index]
}

// Gauge draws part of whole in one style, of exactly width cells; more than whole fills it.
func Gauge(part, whole int64, width int, fill, rest style.Style, st *style.Set) string {
	if width <= 0 {
		return ""
	}
	cells := stack.Split(make([]stack.Cell, 0, width), []int64{part}, whole, width)
	full, tail := 0, ""
	for _, c := range cells {
		switch {
		case c.Lower == 0 && c.Fill == stack.Eighths:
			full++
		case c.Lower == 0 && c.Fill > 0:
			tail = st.Run[c.Fill]
		}
	}
	var b strings.Builder
	fill.Write(&b, strings.Repeat(st.Full, full)+strings.TrimSpace(tail))
	used := full
	if strings.TrimSpace(tail) != "" {
		used++
	}
	rest.Write(&b, strings.Repeat(st.Areas.Patterns[style.BatchFree], width-used))
	return b.String()
}
