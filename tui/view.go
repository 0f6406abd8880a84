package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/tui/internal/cell"
)

// View draws the model. It draws what is seen and nothing else.
func (m *Model) View() tea.View {
	view := tea.NewView(m.draw())
	view.AltScreen = true
	view.WindowTitle = "koord"
	view.Cursor = m.promptCursor()
	if m.mouse {
		view.MouseMode = tea.MouseModeCellMotion
	}
	return view
}

// draw returns exactly height lines, none wider than the terminal.
func (m *Model) draw() string {
	if m.width == 0 || m.height == 0 {
		return ""
	}
	if m.tooSmall() {
		return strings.Join(m.drawTooSmall(), "\n")
	}
	f := m.frame()
	lines := make([]string, 0, m.height)
	lines = append(lines, m.drawHeader(f.header.w))
	lines = append(lines, m.drawSummary(f.summary)...)
	lines = append(lines, m.drawTitle(f.title.w))
	lines = append(lines, block(m.drawBody(f), f.body)...)
	lines = append(lines, m.drawStatus(f.status.w), m.drawMenu(f.menu.w))
	return strings.Join(fitted(lines, m.width, m.height), "\n")
}

// block is exactly the lines of a part of the screen.
func block(lines []string, r rect) []string {
	if len(lines) > r.h {
		return lines[:r.h]
	}
	for len(lines) < r.h {
		lines = append(lines, "")
	}
	return lines
}

func fitted(lines []string, width, height int) []string {
	lines = block(lines, rect{h: height})
	for i, line := range lines {
		lines[i] = cell.Truncate(line, width, "")
	}
	return lines
}

func (m *Model) drawTooSmall() []string {
	text := []string{
		"terminal too small",
		fmt.Sprintf("%dx%d, needs %dx%d", m.width, m.height, minWidth, minHeight),
		string(finding.TerminalTooSmall),
		"resize it, or press q",
	}
	for i, line := range text {
		text[i] = m.st.Say(line)
	}
	return fitted(centered(text, m.width, m.height), m.width, m.height)
}

// centered puts plain or styled lines in the middle of a part of the screen.
func centered(text []string, width, height int) []string {
	lines := make([]string, 0, height)
	for range max((height-len(text))/2, 0) {
		lines = append(lines, "")
	}
	for _, line := range text {
		lines = append(lines, cell.Blank((width-cell.Width(line))/2)+line)
	}
	return lines
}

// drawBody is the content of the current view, or why there is none.
func (m *Model) drawBody(f frame) []string {
	banners := m.banners(f.body.w)
	room := rect{w: f.body.w, h: max(f.body.h-len(banners), 0)}
	var content []string
	if m.awaited() {
		content = m.drawUnknown(m.feed(), room)
	} else {
		content = m.drawScreen(f, room)
	}
	return append(banners, content...)
}

func (m *Model) drawScreen(f frame, room rect) []string {
	switch c := m.page().content(); {
	case c.table != nil && c.head != nil:
		return append(c.head(room.w), m.drawTable(c.table, rect{w: room.w, h: max(room.h-c.headLines, 0)})...)
	case c.table != nil:
		return m.drawTable(c.table, room)
	case c.draw != nil:
		return c.draw(room)
	}
	lines, _ := m.text(f)
	from := min(m.page().scroll, len(lines))
	return lines[from:min(from+room.h, len(lines))]
}

// drawTable draws the rows, or why there are none.
func (m *Model) drawTable(t *rows, r rect) []string {
	switch {
	case t.Total() == 0:
		what, hints := t.empty()
		return m.drawEmpty(r, what, hints...)
	case t.Len() == 0:
		return m.drawNoMatch(r, t)
	}
	return t.Draw(r.w, r.h, true, m.st)
}

// text is the whole text of a page that scrolls, and how many of its lines are seen at once.
func (m *Model) text(f frame) (lines []string, room int) {
	room = f.body.h - len(m.banners(f.body.w))
	c := m.page().content()
	if c.text == nil || c.feed != nil && !c.feed.known {
		return nil, room
	}
	return c.text(f.body.w), room
}

// tableTop is the number of lines of the body above the table.
func (m *Model) tableTop(f frame) int {
	return len(m.banners(f.body.w)) + m.page().content().headLines
}
