package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/cell"
)

// drawTabs is the line of the tabs of the current page.
func (m *Model) drawTabs(names []string) string {
	st, tabs := m.st, make([]string, len(names))
	names = m.translated(names)
	for i, name := range names {
		if i == m.page().tab {
			tabs[i] = st.Title.Render("[" + name + "]")
		} else {
			tabs[i] = st.Dim.Render(" " + name + " ")
		}
	}
	return " " + strings.Join(tabs, cell.Blank(m.tabGap(names)))
}

// translated are names of tabs in the language of the reader.
func (m *Model) translated(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = m.st.Say(name)
	}
	return out
}

// tabGap is what is between two tabs, beside the cell that each has for its brackets: nothing where their numbers make the tabs
// wider than the terminal.
func (m *Model) tabGap(names []string) int {
	width := 1
	for _, name := range names {
		width += cell.Width(name) + 2
	}
	if width+len(names)-1 > m.width {
		return 0
	}
	return 1
}

// tabAt is the tab drawn in a column of the terminal; -1 where there is none.
func (m *Model) tabAt(names []string, x int) int {
	names = m.translated(names)
	from, gap := 1, m.tabGap(names)
	for i, name := range names {
		to := from + cell.Width(name) + 2 + gap
		if x >= from && x < to {
			return i
		}
		from = to
	}
	return -1
}

// showTab shows a tab of the current page from its beginning.
func (m *Model) showTab(tab int) tea.Cmd {
	p := m.page()
	p.tab, p.scroll = tab, 0
	return m.poll()
}

// turnTab shows the tab that is some further, the first one after the last.
func turnTab(tabs, by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.showTab((m.page().tab + by + tabs) % tabs) }
}
