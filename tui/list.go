package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/grid"
)

// list is a table and the feed that fills it.
type list[A, R any] struct {
	feed[A]
	table *grid.Table[R]
	// rows makes the rows of an answer, and incomplete, which may be nil, says what it could not see.
	rows       func(A) []R
	incomplete func(A) []string
	// object that a row is about, and what is said where there are no rows.
	object func(*R) object
	empty  func() (what string, hints []string)
	// reason and labelled are those of rows, and may be nil.
	reason   func(row *R, width int) string
	labelled func(selector string) labelQuestion
	// shown is what content returns of the table.
	shown *rows
}

// ask asks for the rows. Those of another question go at once.
func (l *list[A, R]) ask(m *Model, question string, fetch func(context.Context) (A, error)) tea.Cmd {
	return l.askWithin(m, askTimeout, question, fetch)
}

// askWithin is ask for a question that takes longer to answer.
func (l *list[A, R]) askWithin(m *Model, timeout time.Duration, question string, fetch func(context.Context) (A, error)) tea.Cmd {
	if l.question != question {
		l.table.SetRows(nil)
	}
	l.accepted = func(a answer[A]) {
		if a.err == nil {
			l.table.SetRows(l.rows(a.value))
		}
	}
	return askWithin(m, &l.feed, timeout, question, fetch)
}

// content shows the list.
func (l *list[A, R]) content() content {
	if l.shown == nil {
		l.shown = &rows{table: l.table, empty: l.empty, selected: l.selected, marked: l.marked, labelled: l.labelled}
		if l.reason != nil {
			l.shown.reason = l.selectedReason
		}
	}
	c := content{feed: &l.feedState, table: l.shown}
	if l.known && l.incomplete != nil {
		c.incomplete = l.incomplete(l.value)
	}
	return c
}

func (l *list[A, R]) selected() (object, bool) {
	row := l.table.Selected()
	if row == nil {
		return object{}, false
	}
	return l.object(row), true
}

func (l *list[A, R]) marked() []object {
	var out []object
	for _, row := range l.table.Marked() {
		out = append(out, l.object(row))
	}
	return out
}

func (l *list[A, R]) selectedReason(width int) string {
	row := l.table.Selected()
	if row == nil {
		return ""
	}
	return l.reason(row, width)
}
