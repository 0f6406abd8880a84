package grid

// marks are rows that were chosen, by key, so that something is done with all of them at once. They outlast filters and orders.
type marks struct {
	keys map[string]bool
	// last is the key of the row that was marked last, where a range begins.
	last string
}

// Mark marks the row under the cursor, or takes its mark away.
func (t *Table[T]) Mark() {
	row := t.Selected()
	if row == nil {
		return
	}
	key := t.key(row)
	if t.marks.keys[key] {
		delete(t.marks.keys, key)
		t.marks.last = ""
		return
	}
	t.mark(key)
}

// MarkRange marks the rows between the one that was marked last and the cursor, both included. It marks the one under the cursor alone
// where the other is not visible.
func (t *Table[T]) MarkRange() {
	if len(t.visible) == 0 {
		return
	}
	from, to := t.cursor, t.cursor
	for i, index := range t.visible {
		if t.key(&t.all[index]) == t.marks.last {
			from, to = min(i, t.cursor), max(i, t.cursor)
			break
		}
	}
	for _, index := range t.visible[from : to+1] {
		t.mark(t.key(&t.all[index]))
	}
	t.marks.last = t.key(t.Selected())
}

func (t *Table[T]) mark(key string) {
	if t.marks.keys == nil {
		t.marks.keys = map[string]bool{}
	}
	t.marks.keys[key], t.marks.last = true, key
}

// ClearMarks takes all marks away.
func (t *Table[T]) ClearMarks() { t.marks = marks{} }

// Marks is the number of marked rows, also of those that a filter hides.
func (t *Table[T]) Marks() int { return len(t.marks.keys) }

// Marked are the marked rows, also those that a filter hides, in the order in which the rows were set.
func (t *Table[T]) Marked() []*T {
	if t.Marks() == 0 {
		return nil
	}
	out := make([]*T, 0, t.Marks())
	for i := range t.all {
		if t.marks.keys[t.key(&t.all[i])] {
			out = append(out, &t.all[i])
		}
	}
	return out
}

// keepMarks forgets the marks of rows that are gone.
func (t *Table[T]) keepMarks() {
	if t.Marks() == 0 {
		return
	}
	kept := map[string]bool{}
	for _, row := range t.Marked() {
		kept[t.key(row)] = true
	}
	t.marks.keys = kept
}
