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
// Without focus no row has the cursor.
func (t *Table[T]) Draw(width, height int, focus bool, st *style.Set) []string {
	if width <= margin || height <= 0 {
		return nil
	}
	t.say = st.Say
	shown, widths := t.fit(width - margin)
	lines := make([]string, 0, height)
	lines = append(lines, t.header(shown, widths, width, st))
	for i := t.offset; i < len(t.visible) && len(lines) < height; i++ {
		row := &t.all[t.visible[i]]
		lines = append(lines, t.row(row, shown, widths, width, st, focus && i == t.cursor))
	}
	return lines
}

// fit chooses the columns that fit and their widths. What is dropped first comes back where the room allows after all, and
// texts are cut only when nothing is left to drop.
func (t *Table[T]) fit(room int) (shown, widths []int) {
	var all []int
	for i, c := range t.columns {
		if (!c.Wide || t.wide) && !t.hidden[c.Title] {
			all = append(all, i)
		}
	}
	shown = slices.Clone(all)
	for t.need(shown) > room && t.dropOne(&shown) {
	}
	shown = t.fill(shown, all, room)
	widths = make([]int, len(shown))
	for at, i := range shown {
		widths[at] = t.want(i)
	}
	if left := room - t.need(shown); left >= 0 {
		t.grow(shown, widths, left)
	} else {
		t.cut(shown, widths, -left)
	}
	return shown, widths
}

// fill brings dropped columns back that fit, those that are dropped last first.
func (t *Table[T]) fill(shown, all []int, room int) []int {
	dropped := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return slices.Contains(shown, i) })
	slices.SortStableFunc(dropped, func(a, b int) int { return t.drop(a) - t.drop(b) })
	for _, i := range dropped {
		more := append(slices.Clone(shown), i)
		slices.Sort(more)
		if t.need(more) <= room {
			shown = more
		}
	}
	return shown
}

// grow shares what is left among the columns that grow.
func (t *Table[T]) grow(shown, widths []int, left int) {
	grow := 0
	for _, i := range shown {
		grow += t.columns[i].Grow
	}
	for at, i := range shown {
		c := t.columns[i]
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
}

// cut takes from the widest texts, cell by cell, until over cells are saved or all have their least width. Numbers, which are aligned
// to the right, are not cut: half of one is another.
func (t *Table[T]) cut(shown, widths []int, over int) {
	for ; over > 0; over-- {
		widest := -1
		for at, i := range shown {
			if c := t.columns[i]; c.Text != nil && !c.Right && widths[at] > c.Width && (widest < 0 || widths[at] > widths[widest]) {
				widest = at
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

func (t *Table[T]) need(shown []int) int {
	sum := -gap
	for _, i := range shown {
		sum += t.want(i) + gap
	}
	return sum
}

// want is the width that a column asks for. The title has room for the mark of the order beside it.
func (t *Table[T]) want(i int) int {
	c := t.columns[i]
	if c.Text == nil {
		return c.Width
	}
	longest := cell.Width(t.heading(c.Title)) + 1
	if i < len(t.longest) {
		longest = max(longest, t.longest[i])
	}
	if c.Max > 0 {
		longest = min(longest, c.Max)
	}
	return longest
}

// heading is the title of a column as the header shows it.
func (t *Table[T]) heading(title string) string {
	if t.say == nil {
		return title
	}
	return t.say(title)
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
		c, title := t.columns[i], t.heading(t.columns[i].Title)
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
	switch {
	case t.Marks() > 0 && t.marks.keys[t.key(row)]: // under the cursor, the whole row shows where that is
		st.Key.Write(&b, st.Marked)
	case selected:
		st.Key.Write(&b, st.Cursor)
	default:
		b.WriteString(" ")
	}
	at := 1
	spanFrom, span := t.spanOf(row, shown, widths, width)
	for n, i := range shown {
		if n > 0 {
			st.Plain.Write(&b, " ")
			at++
		}
		if n == spanFrom {
			text := cell.Truncate(st.Warn.Render(st.Say(span)), width-at-1, st.Ellipsis)
			b.WriteString(text)
			at += cell.Width(text)
			break
		}
		t.cell(&b, row, t.columns[i], widths[n], st)
		at += widths[n]
	}
	st.Plain.Write(&b, cell.Blank(width-at))
	return cell.Truncate(b.String(), width, "")
}

func (t *Table[T]) cell(b *strings.Builder, row *T, c Column[T], width int, st *style.Set) {
	cut := cell.Truncate
	if c.Ends {
		cut = cell.Middle
	}
	text := cut(c.Cell(row, width, st), width, st.Ellipsis)
	pad := cell.Blank(width - cell.Width(text))
	if c.Right {
		st.Plain.Write(b, pad)
	}
	b.WriteString(text)
	if !c.Right {
		st.Plain.Write(b, pad)
	}
}

// spanOf is the text of a row that spans columns, and the place of the first of them; -1 where the row has none.
func (t *Table[T]) spanOf(row *T, shown, widths []int, width int) (from int, text string) {
	if t.span.Text == nil {
		return -1, ""
	}
	from, room := -1, 0
	for _, title := range t.span.After(row) {
		at := slices.IndexFunc(shown, func(i int) bool { return t.columns[i].Title == title })
		if at < 0 || at == len(shown)-1 {
			continue
		}
		from, room = at+1, width-margin
		for _, w := range widths[:from] {
			room -= w + gap
		}
		if room >= t.span.Room {
			break
		}
	}
	if from < 0 {
		return -1, ""
	}
	if text = t.span.Text(row, room); text == "" {
		return -1, ""
	}
	return from, text
}

func align(text string, width int, right bool, st *style.Set) string {
	if right {
		return cell.Right(text, width, st.Ellipsis)
	}
	return cell.Left(text, width, st.Ellipsis)
}
