package grid

import (
	"slices"
	"strings"

	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/style"
)

const (
	// gap is between two columns.
	gap = 1
	// margin is left and right of the columns together.
	margin = 2
)

// Draw returns the header line and the visible rows, each exactly width cells wide and at most height lines together.
// Without focus no row is marked.
func (t *Table[T]) Draw(width, height int, focus bool, st *style.Set) []string {
	if width <= margin || height <= 0 {
		return nil
	}
	shown, widths := t.fit(width - margin)
	lines := make([]string, 0, height)
	lines = append(lines, t.header(shown, widths, width, st))
	for i := t.offset; i < len(t.visible) && len(lines) < height; i++ {
		row := &t.all[t.visible[i]]
		lines = append(lines, t.row(row, shown, widths, width, st, focus && i == t.cursor))
	}
	return lines
}

// fit chooses the columns that fit and their widths.
func (t *Table[T]) fit(room int) (shown, widths []int) {
	for i, c := range t.columns {
		if !c.Wide || t.wide {
			shown = append(shown, i)
		}
	}
	for t.need(shown) > room && t.dropOne(&shown) {
	}
	left := room - t.need(shown)
	grow := 0
	for _, i := range shown {
		grow += t.columns[i].Grow
	}
	widths = make([]int, len(shown))
	for at, i := range shown {
		c := t.columns[i]
		widths[at] = c.Width
		if c.Grow == 0 || left <= 0 {
			continue
		}
		extra := left * c.Grow / grow
		if c.Max > 0 {
			extra = min(extra, max(c.Max-c.Width, 0))
		}
		widths[at] += extra
		left, grow = left-extra, grow-c.Grow
	}
	return shown, widths
}

func (t *Table[T]) need(shown []int) int {
	sum := -gap
	for _, i := range shown {
		sum += t.columns[i].Width + gap
	}
	return sum
}

func (t *Table[T]) drop(i int) int {
	if c := t.columns[i]; !t.wide || c.DropWide == 0 {
		return c.Drop
	}
	return t.columns[i].DropWide
}

// dropOne removes the column with the highest Drop; false when all must stay.
func (t *Table[T]) dropOne(shown *[]int) bool {
	worst := -1
	for at, i := range *shown {
		if d := t.drop(i); d > 0 && (worst < 0 || d > t.drop((*shown)[worst])) {
			worst = at
		}
	}
	if worst < 0 {
		return false
	}
	*shown = slices.Delete(*shown, worst, worst+1)
	return true
}

func (t *Table[T]) header(shown, widths []int, width int, st *style.Set) string {
	var b strings.Builder
	b.WriteString(" ")
	for at, i := range shown {
		if at > 0 {
			b.WriteString(" ")
		}
		c, title := t.columns[i], t.columns[i].Title
		text := st.Dim
		if i == t.sortBy && c.Compare != nil {
			text = st.Title
			if t.descending {
				title += st.Down
			} else {
				title += st.Up
			}
		}
		if t.choosing && i == t.chosen {
			text = st.On(true).Title
		}
		text.Write(&b, align(title, widths[at], c.Right, st))
	}
	return cell.Left(b.String(), width, "")
}

func (t *Table[T]) row(row *T, shown, widths []int, width int, st *style.Set, selected bool) string {
	st = st.On(selected)
	var b strings.Builder
	if selected {
		st.Key.Write(&b, st.Cursor)
	} else {
		b.WriteString(" ")
	}
	at := 1
	for n, i := range shown {
		if n > 0 {
			st.Plain.Write(&b, " ")
			at++
		}
		c := t.columns[i]
		text := cell.Truncate(c.Cell(row, widths[n], st), widths[n], st.Ellipsis)
		pad := cell.Blank(widths[n] - cell.Width(text))
		if c.Right {
			st.Plain.Write(&b, pad)
		}
		b.WriteString(text)
		if !c.Right {
			st.Plain.Write(&b, pad)
		}
		at += widths[n]
	}
	st.Plain.Write(&b, cell.Blank(width-at))
	return cell.Truncate(b.String(), width, "")
}

func align(text string, width int, right bool, st *style.Set) string {
	if right {
		return cell.Right(text, width, st.Ellipsis)
	}
	return cell.Left(text, width, st.Ellipsis)
}
