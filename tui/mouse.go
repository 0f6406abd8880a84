package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

const (
	// wheelLines is how far one notch of the wheel goes.
	wheelLines = 3
	// doubleClick is the longest time between the two clicks of a double click.
	doubleClick = 500 * time.Millisecond
)

// clicked is the click before.
type clicked struct {
	row int
	on  table
	at  time.Time
}

func (m *Model) commandMouse(string) tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		return m.say("mouse on; hold shift to select text", false)
	}
	return m.say("mouse off", false)
}

// mouseless reports whether there is nothing that the mouse could point at.
func (m *Model) mouseless() bool { return m.tooSmall() || m.prompt.mode != promptOff }

// wheel moves the cursor of a table, scrolls a text and zooms a chart.
func (m *Model) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	by := map[tea.MouseButton]int{tea.MouseWheelUp: -1, tea.MouseWheelDown: 1}[msg.Button]
	switch t := m.table(); {
	case by == 0 || m.mouseless():
		return nil
	case t != nil:
		t.Move(by * wheelLines)
		return nil
	case m.page().screen.wheel != nil:
		return m.page().screen.wheel(by)
	}
	return scrollBy(by * wheelLines)(m)
}

// click selects a row or a tab; a double click does with the row what enter does.
func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	state := m.feed()
	if msg.Button != tea.MouseLeft || m.mouseless() || state == nil || !state.known {
		return nil
	}
	f := m.frame()
	c, line := m.page().content(), msg.Y-f.body.y-len(m.banners(f.body.w))
	if c.click != nil && line >= 0 && msg.Y < f.body.y+f.body.h {
		if cmd, ok := c.click(msg.X, line); ok {
			return cmd
		}
	}
	t := c.table
	if t == nil || !t.At(msg.Y-f.body.y-m.tableTop(f)) {
		return nil
	}
	before, now := m.clicked, m.clock.Now()
	m.clicked = clicked{row: t.Cursor(), on: t.table, at: now}
	if before.on != t.table || before.row != t.Cursor() || now.Sub(before.at) > doubleClick {
		return nil
	}
	m.clicked = clicked{}
	return m.enter()
}

// enter runs the action of the enter key.
func (m *Model) enter() tea.Cmd {
	for _, a := range m.actions() {
		if key.Matches(tea.KeyPressMsg{Code: tea.KeyEnter}, a.Binding) {
			return a.run(m)
		}
	}
	return nil
}
