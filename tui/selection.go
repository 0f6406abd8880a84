package tui

import (
	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/grid"
)

// admitted are the keys of the rows that a label selector selects. The overviews do not carry labels, so the cluster is
// asked, again with every refresh.
type admitted map[string]bool

// selection is the label selector of one table at a time: that of the current screen.
type selection struct {
	feed[admitted]
	table table
}

// filter sets the filter of a table. One that does not parse changes nothing but the message.
func (m *Model) filter(t *rows, expr string) tea.Cmd {
	if t.labelled == nil && grid.SelectorOf(expr) != "" {
		return m.say("no labels are known here; filter by text", true)
	}
	if err := t.SetFilter(expr); err != nil {
		return m.say(err.Error(), true)
	}
	if t.Selector() == "" {
		return nil
	}
	return m.askSelection(t)
}

// askSelection asks which rows of the current page's table its label selector selects.
func (m *Model) askSelection(t *rows) tea.Cmd {
	question := t.labelled(t.Selector())
	if m.selection.known && m.selection.question == question.name {
		t.Admit(m.selection.value)
	} else {
		t.Admit(nil)
	}
	m.selection.table, m.selection.accepted = t.table, m.learnAdmitted
	return ask(m, &m.selection.feed, question.name, question.ask)
}

// learnAdmitted admits the rows to the table that asked; without a label selector a table ignores them.
func (m *Model) learnAdmitted(msg answer[admitted]) {
	if msg.err == nil {
		m.selection.table.Admit(msg.value)
	}
}
