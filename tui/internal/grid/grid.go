// Package grid is a table that renders only the rows that are seen. Filtering and sorting happen when the rows, the
// filter or the order change, never while drawing.
package grid

import (
	"slices"

	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/style"
)

// Column describes one column.
type Column[T any] struct {
	// Title in upper case without spaces.
	Title string
	// Width it needs, in cells; of a column with Text the least that it is cut to.
	Width int
	// Text is what Cell writes, without styles. A column that has it wants the width of its longest text, up to Max.
	Text func(row *T) string
	// Says is true for a column of messages, which are translated.
	Says bool
	// Grow is its share of the room that is left; 0 keeps the width.
	Grow int
	// Max width in cells; 0 is unbounded.
	Max int
	// Ends keeps both ends of a text that is cut, as names need that differ in their last characters.
	Ends bool
	// Right aligns text to the right.
	Right bool
	// Wide columns are seen in wide mode only.
	Wide bool
	// Drop orders columns by what is left out first where the room is short; 0 stays.
	Drop int
	// DropWide is the Drop of wide mode, where it is not 0: a drawing that gives way to numbers.
	DropWide int
	// Compare orders rows; nil when the column cannot be sorted by.
	Compare func(a, b *T) int
	// Cell is the text of a row, styled, ideally no wider than width.
	Cell func(row *T, width int, st *style.Set) string
}

// Span is text that some rows have in place of their last cells.
type Span[T any] struct {
	// After are titles of columns, by preference: the text takes everything right of the first one that leaves it Room, else
	// of the last one.
	After func(row *T) []string
	// Room that the text needs, in cells.
	Room int
	// Text of a row, no wider than width; empty where the cells are drawn.
	Text func(row *T, width int) string
}

// Table is a table of rows. It is not safe for concurrent use.
type Table[T any] struct {
	columns []Column[T]
	span    Span[T]
	// longest is the width of the longest text of each column that has texts.
	longest []int
	hidden  map[string]bool
	key     func(*T) string
	text    func(*T) string
	problem func(*T) bool

	all     []T
	visible []int

	sortBy     int
	descending bool
	// chosen is the column that the header marks while choosing is true.
	chosen   int
	choosing bool
	marks    marks
	filter   filter
	admitted map[string]bool
	problems bool
	wide     bool

	cursor, offset int
	// left is the key of the row that the cursor was on while no row is visible; it goes back there.
	left string
	// say translates the titles of columns; nil before they are drawn.
	say func(string) string
	// width that columns share and height for rows, in cells.
	width, height int
}

// New returns an empty table. key identifies a row across refreshes, text is what a filter searches and problem selects
// the rows of problems-only mode.
func New[T any](columns []Column[T], key, text func(*T) string, problem func(*T) bool) *Table[T] {
	return &Table[T]{columns: columns, key: key, text: text, problem: problem}
}

// SetRows replaces the rows. The cursor stays on the row with the same key. The table keeps the slice.
func (t *Table[T]) SetRows(rows []T) {
	held := t.heldKey()
	t.all = rows
	t.keepMarks()
	t.measure()
	t.arrange(held)
}

// measure finds the longest text of each column that has texts.
func (t *Table[T]) measure() {
	t.longest = make([]int, len(t.columns))
	for at, c := range t.columns {
		if c.Text == nil {
			continue
		}
		for i := range t.all {
			t.longest[at] = max(t.longest[at], cell.Width(c.Text(&t.all[i])))
		}
	}
}

// Rows are all rows, before filters, in the order in which they were set. The table keeps the slice.
func (t *Table[T]) Rows() []T { return t.all }

// SetSpan lets rows have text in place of their last cells.
func (t *Table[T]) SetSpan(span Span[T]) { t.span = span }

// Hide leaves out the column of that title, such as one whose cells are all the same, or shows it again.
func (t *Table[T]) Hide(title string, hide bool) {
	if t.hidden == nil {
		t.hidden = map[string]bool{}
	}
	t.hidden[title] = hide
}

// Total is the number of rows before filters.
func (t *Table[T]) Total() int { return len(t.all) }

// Len is the number of rows that pass the filters.
func (t *Table[T]) Len() int { return len(t.visible) }

// Filter is the expression in force.
func (t *Table[T]) Filter() string { return t.filter.expr }

// Selector is the label selector of the filter; empty when the filter is of another form.
func (t *Table[T]) Selector() string { return t.filter.selector }

// SetFilter keeps the rows that an expression of one of FilterForms asks for. On an error the filter before stays. A label
// selector keeps no row until Admit says which it selects.
func (t *Table[T]) SetFilter(expr string) error {
	f, err := parseFilter(expr)
	if err != nil {
		return err
	}
	held := t.heldKey()
	if f.selector != t.filter.selector {
		t.admitted = nil
	}
	t.filter = f
	t.arrange(held)
	return nil
}

// Admit says which rows the label selector of the filter selects, by key.
func (t *Table[T]) Admit(keys map[string]bool) {
	held := t.heldKey()
	t.admitted = keys
	t.arrange(held)
}

// Problems reports whether only problems are shown.
func (t *Table[T]) Problems() bool { return t.problems }

// ToggleProblems shows only problems, or all rows again.
func (t *Table[T]) ToggleProblems() {
	held := t.heldKey()
	t.problems = !t.problems
	t.arrange(held)
}

// Wide reports whether wide columns are shown.
func (t *Table[T]) Wide() bool { return t.wide }

// ToggleWide shows or hides wide columns.
func (t *Table[T]) ToggleWide() { t.wide = !t.wide }

// SortBy orders by the column of that title; the same title again reverses. The first order is ascending, or
// descending where largestFirst. The cursor goes to the top: who sorts wants to see what comes first.
func (t *Table[T]) SortBy(title string, largestFirst bool) {
	for i, c := range t.columns {
		if c.Title != title || c.Compare == nil {
			continue
		}
		was := t.descending
		t.descending = largestFirst
		if t.sortBy == i {
			t.descending = !was
		}
		t.sortBy, t.cursor, t.offset, t.choosing = i, 0, 0, false
		t.arrange("")
		return
	}
}

// Choose moves the mark in the header by delta columns, of those that are shown and can be sorted by. It begins at the
// column in order and stops at the ends.
func (t *Table[T]) Choose(delta int) {
	if !t.choosing {
		t.chosen, t.choosing = t.sortBy, true
	}
	shown, _ := t.fit(t.width)
	shown = slices.DeleteFunc(shown, func(i int) bool { return t.columns[i].Compare == nil })
	at := slices.Index(shown, t.chosen) + delta
	if len(shown) > 0 {
		t.chosen = shown[max(min(at, len(shown)-1), 0)]
	}
}

// SortByChosen orders by the column that Choose marked, numbers with the largest first; without a mark it reverses the
// order.
func (t *Table[T]) SortByChosen() {
	at := t.sortBy
	if t.choosing {
		at = t.chosen
	}
	if at < len(t.columns) {
		t.SortBy(t.columns[at].Title, t.columns[at].Right)
	}
}

// Selected is the row under the cursor; nil when there is none.
func (t *Table[T]) Selected() *T {
	if t.cursor < 0 || t.cursor >= len(t.visible) {
		return nil
	}
	return &t.all[t.visible[t.cursor]]
}

// Select moves the cursor to the row with the key, if it is visible.
func (t *Table[T]) Select(key string) { t.hold(key); t.scroll() }

// Cursor is the position of the cursor among the visible rows.
func (t *Table[T]) Cursor() int { return t.cursor }

// Move moves the cursor by delta rows and stops at the ends.
func (t *Table[T]) Move(delta int) {
	t.cursor += delta
	t.scroll()
}

// Page is the number of rows seen at once.
func (t *Table[T]) Page() int { return max(t.height, 1) }

// SetSize sets the width the table is drawn in, and the number of rows seen at once.
func (t *Table[T]) SetSize(width, rows int) {
	t.width, t.height = max(width-margin, 0), max(rows, 0)
	t.scroll()
}

// At moves the cursor to the row that is drawn in a line of the table, the header being line 0; false when there is none.
func (t *Table[T]) At(line int) bool {
	at := t.offset + line - 1
	if line < 1 || line > t.height || at >= len(t.visible) {
		return false
	}
	t.cursor = at
	return true
}

// heldKey is the key of the row under the cursor, or of the one that it was on last where no row is visible.
func (t *Table[T]) heldKey() string {
	if row := t.Selected(); row != nil {
		return t.key(row)
	}
	return t.left
}

// arrange filters and sorts.
func (t *Table[T]) arrange(held string) {
	t.visible = t.visible[:0]
	for i := range t.all {
		if t.passes(&t.all[i]) {
			t.visible = append(t.visible, i)
		}
	}
	t.order()
	t.left = ""
	if len(t.visible) == 0 {
		t.left = held
	}
	t.hold(held)
	t.scroll()
}

func (t *Table[T]) passes(row *T) bool {
	if t.problems && !t.problem(row) {
		return false
	}
	if t.filter.selector != "" {
		return t.admitted[t.key(row)]
	}
	return t.filter.expr == "" || t.filter.keeps(t.key(row), t.text(row))
}

func (t *Table[T]) order() {
	if t.sortBy >= len(t.columns) || t.columns[t.sortBy].Compare == nil {
		return
	}
	compare := t.columns[t.sortBy].Compare
	slices.SortStableFunc(t.visible, func(a, b int) int {
		if t.descending {
			a, b = b, a
			if order := compare(&t.all[a], &t.all[b]); order != 0 {
				return order
			}
			return b - a
		}
		return compare(&t.all[a], &t.all[b])
	})
}

func (t *Table[T]) hold(key string) {
	if key == "" {
		return
	}
	if row := t.Selected(); row != nil && t.key(row) == key {
		return
	}
	for i, index := range t.visible {
		if t.key(&t.all[index]) == key {
			t.cursor = i
			return
		}
	}
}

func (t *Table[T]) scroll() {
	t.cursor = max(min(t.cursor, len(t.visible)-1), 0)
	t.offset = min(t.offset, t.cursor)
	if t.height > 0 {
		t.offset = max(t.offset, t.cursor-t.height+1)
		t.offset = min(t.offset, max(len(t.visible)-t.height, 0))
	}
	t.offset = max(t.offset, 0)
}
