package tui

import (
	"math"

	tea "charm.land/bubbletea/v2"
)

// tableActions work in every table.
var tableActions = []action{
	bind(groupView, true, "/", "filter", (*Model).openFilter, "/"),
	bind(groupView, true, "ctrl-z", "only problems", tableDo(func(t table) { t.ToggleProblems() }), "ctrl+z"),
	bind(groupView, true, "ctrl-w", "wide", tableDo(func(t table) { t.ToggleWide() }), "ctrl+w"),
	bind(groupSort, false, "shift-left", "select previous column", tableDo(func(t table) { t.Choose(-1) }), "shift+left"),
	bind(groupSort, false, "shift-right", "select next column", tableDo(func(t table) { t.Choose(1) }), "shift+right"),
	bind(groupSort, false, "shift-o", "by selected column", tableDo(func(t table) { t.SortByChosen() }), "O", "shift+o"),
	bind(groupMove, false, "j down", "down", tableDo(func(t table) { t.Move(1) }), "j", "down"),
	bind(groupMove, false, "k up", "up", tableDo(func(t table) { t.Move(-1) }), "k", "up"),
	bind(groupMove, false, "g home", "first", tableDo(func(t table) { t.Move(math.MinInt32) }), "g", "home"),
	bind(groupMove, false, "G end", "last", tableDo(func(t table) { t.Move(math.MaxInt32) }), "G", "shift+g", "end"),
	bind(groupMove, false, "ctrl-f pgdn", "page down", tableDo(func(t table) { t.Move(t.Page()) }), "ctrl+f", "pgdown"),
	bind(groupMove, false, "ctrl-b pgup", "page up", tableDo(func(t table) { t.Move(-t.Page()) }), "ctrl+b", "pgup"),
}

// tableDo is an action on the current table.
func tableDo(do func(table)) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if t := m.table(); t != nil {
			do(t)
		}
		return nil
	}
}

// sortAction orders by a column; the same key again reverses.
func sortAction(letter, title string, largestFirst bool) action {
	lower := string(letter[0] + 'a' - 'A')
	return bind(groupSort, false, "shift-"+lower, "by "+title,
		tableDo(func(t table) { t.SortBy(title, largestFirst) }), letter, "shift+"+lower)
}

// textActions scroll a text.
var textActions = []action{
	bind(groupMove, false, "j down", "down", scrollBy(1), "j", "down"),
	bind(groupMove, false, "k up", "up", scrollBy(-1), "k", "up"),
	bind(groupMove, false, "g home", "top", scrollBy(math.MinInt32), "g", "home"),
	bind(groupMove, false, "G end", "bottom", scrollBy(math.MaxInt32), "G", "shift+g", "end"),
	bind(groupMove, false, "ctrl-f pgdn", "page down", scrollPage(1), "ctrl+f", "pgdown", "space"),
	bind(groupMove, false, "ctrl-b pgup", "page up", scrollPage(-1), "ctrl+b", "pgup"),
}

func scrollBy(lines int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.awaited() {
			return nil // there is no text yet
		}
		s := m.page()
		s.scroll = max(s.scroll+lines, 0) // settle keeps it from passing the end
		return nil
	}
}

func scrollPage(pages int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		return scrollBy(pages * max(m.frame().body.h-1, 1))(m)
	}
}
