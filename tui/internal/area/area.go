// Package area draws stacked areas over time, with an axis, a capacity line and a legend.
package area

import (
	"strconv"
	"strings"
	"time"

	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/history"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/stack"
	"koordinator.sh/koord/tui/internal/story"
	"koordinator.sh/koord/tui/internal/style"
)

// AxisWidth is the number of cells the vertical axis takes.
const AxisWidth = 8

// Chart is what to draw.
type Chart struct {
	// Points, one a column, oldest first.
	Points []history.Point
	// Recorded is the number of columns, from the left, that others recorded before the chart was opened.
	Recorded int
	// Step of one column.
	Step time.Duration
	// Unit writes a value of the vertical axis.
	Unit func(int64) string
}

// Draw returns exactly height lines of AxisWidth+len(Points) cells; none when there is no room for a plot.
func (c Chart) Draw(height int, st *style.Set) []string {
	rows := height - 2
	if rows < 1 || len(c.Points) == 0 {
		return nil
	}
	top := c.top()
	grid := c.columns(rows, top)
	limit := c.limitRows(rows, top)
	lines := make([]string, 0, height)
	for row := rows - 1; row >= 0; row-- {
		lines = append(lines, c.axis(row, rows, top, st)+drawRow(grid, limit, row, st))
	}
	return append(lines, c.timeAxis(st), c.timeLabels(st))
}

// top is the upper end of the vertical axis: the highest stack or capacity.
func (c Chart) top() int64 {
	var top float64 = 1
	for _, p := range c.Points {
		if !p.Known() {
			continue
		}
		var sum float64
		for _, v := range p.Area {
			sum += float64(v)
		}
		top = max(top, sum, float64(p.Capacity))
	}
	return int64(top * 1.04)
}

func (c Chart) columns(rows int, top int64) [][]stack.Cell {
	out := make([][]stack.Cell, len(c.Points))
	values := make([]int64, len(story.ChartOrder))
	for x, p := range c.Points {
		if !p.Known() {
			continue
		}
		for i, a := range story.ChartOrder {
			values[i] = int64(p.Area[a])
		}
		out[x] = stack.Split(make([]stack.Cell, 0, rows), values, top, rows)
	}
	return out
}

// limitRows is the row of the capacity in each column; -1 where it is not known.
func (c Chart) limitRows(rows int, top int64) []int {
	out := make([]int, len(c.Points))
	for x, p := range c.Points {
		out[x] = -1
		if p.Known() {
			out[x] = min(int(float64(p.Capacity)/float64(top)*float64(rows)), rows-1)
		}
	}
	return out
}

func drawRow(grid [][]stack.Cell, limit []int, row int, st *style.Set) string {
	var b strings.Builder
	for x := 0; x < len(grid); {
		c, capped := cellOf(grid[x], row), limit[x] == row
		run := x + 1
		for run < len(grid) && cellOf(grid[run], row) == c && (limit[run] == row) == capped {
			run++
		}
		drawRun(&b, c, capped, run-x, st)
		x = run
	}
	return b.String()
}

func cellOf(column []stack.Cell, row int) stack.Cell {
	if row >= len(column) {
		return stack.Empty
	}
	return column[row]
}

func drawRun(b *strings.Builder, c stack.Cell, capped bool, n int, st *style.Set) {
	switch {
	case capped && c.Major < 0:
		st.Bad.Write(b, strings.Repeat(st.Limit, n))
	case capped:
		st.Areas.Limit(areaOf(c.Major)).Write(b, strings.Repeat(st.Limit, n))
	case c == stack.Empty:
		b.WriteString(cell.Blank(n))
	case !st.Areas.Colour():
		drawPattern(b, c, n, st)
	default:
		glyph := st.Full
		if c.Fill < stack.Eighths {
			glyph = st.Rise[c.Fill]
		}
		drawPair(b, c, strings.Repeat(glyph, n), st)
	}
}

// drawPair draws a boundary. Where nothing lies above, the terminal's background shows; where nothing lies below,
// which a stack cannot have, the cell stays blank.
func drawPair(b *strings.Builder, c stack.Cell, text string, st *style.Set) {
	if c.Lower < 0 {
		b.WriteString(cell.Blank(cell.Width(text)))
		return
	}
	back := style.Area(-1)
	if c.Upper >= 0 {
		back = story.ChartOrder[c.Upper]
	}
	st.Areas.Pair(story.ChartOrder[c.Lower], back).Write(b, text)
}

func drawPattern(b *strings.Builder, c stack.Cell, n int, st *style.Set) {
	if c.Major < 0 {
		b.WriteString(cell.Blank(n))
		return
	}
	st.Plain.Write(b, strings.Repeat(st.Areas.Patterns[areaOf(c.Major)], n))
}

func areaOf(index int) style.Area {
	if index < 0 || index >= len(story.ChartOrder) {
		return style.Rest
	}
	return story.ChartOrder[index]
}

// axis is the label and the tick of a row: at the top, the bottom and every fourth row between.
func (c Chart) axis(row, rows int, top int64, st *style.Set) string {
	label := ""
	if row == rows-1 || (row%4 == 0 && row < rows-2) {
		label = c.Unit(int64(float64(top) * float64(row) / float64(rows)))
		if row == rows-1 {
			label = c.Unit(top)
		}
	}
	tick := st.Line
	if label != "" {
		tick = st.Axis
	}
	return st.Dim.Render(cell.Right(label, AxisWidth-2, st.Ellipsis)) + " " + st.Faint.Render(tick)
}

const labelEvery = 20

func (c Chart) timeAxis(st *style.Set) string {
	var b strings.Builder
	b.WriteString(st.Corner)
	for x := range c.Points {
		if fromEnd := len(c.Points) - 1 - x; fromEnd%labelEvery == 0 {
			b.WriteString(st.Tick)
		} else {
			b.WriteString(st.Rule)
		}
	}
	axis := []rune(b.String())
	c.markRecorded(axis, st)
	return cell.Blank(AxisWidth-1) + st.Faint.Render(string(axis))
}

// recorded and live name the two parts of a chart on its axis.
const recorded, live = " recorded ", " live "

// markRecorded names the parts of the axis left and right of where the chart was opened, as far as they have room.
func (c Chart) markRecorded(axis []rune, st *style.Set) {
	at := 1 + c.Recorded
	if c.Recorded == 0 || at > len(axis) {
		return
	}
	if from := at - 1 - len(recorded); from >= 1 {
		copy(axis[from:], []rune(recorded))
	}
	if at < len(axis) {
		axis[at] = []rune(st.Tick)[0]
	}
	if at+1+len(live) <= len(axis) {
		copy(axis[at+1:], []rune(live))
	}
}

// ago is an age that keeps the seconds, and below ten seconds their fractions: a scale must not round.
func ago(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + "s"
	case d >= time.Minute && d < time.Hour:
		return strings.Replace(d.Round(time.Second).String(), "m0s", "m", 1)
	}
	return quantity.Age(d)
}

func (c Chart) timeLabels(st *style.Set) string {
	width := AxisWidth + len(c.Points)
	line := []rune(cell.Blank(width))
	for fromEnd := 0; fromEnd < len(c.Points); fromEnd += labelEvery {
		label := "now"
		if fromEnd > 0 {
			label = "-" + ago(time.Duration(fromEnd)*c.Step)
		}
		at := width - 1 - fromEnd - len(label)/2
		at = min(at, width-len(label))
		if at < AxisWidth-1 {
			continue
		}
		copy(line[at:], []rune(label))
	}
	return st.Dim.Render(string(line))
}
