package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
)

// drawStatus is the line of crumbs and flash, or the prompt while one is open.
func (m *Model) drawStatus(width int) string {
	if m.prompt.mode != promptOff {
		return m.drawPrompt(width)
	}
	st := m.st
	if m.flash.text == "" {
		left := m.crumbs(width)
		return cell.Truncate(left+m.selectedReason(width-cell.Width(left)), width, st.Ellipsis)
	}
	text := st.Dim
	if m.flash.bad {
		text = st.Bad
	}
	// What is said goes before where the user is: that stays, and the message goes away by itself.
	flash := text.Render(cell.Clean(m.st.Say(m.flash.text))) + " "
	left := m.crumbs(width - cell.Width(flash) - 1)
	if cell.Width(left)+cell.Width(flash)+1 > width {
		return cell.Truncate(" "+flash, width, st.Ellipsis)
	}
	return cell.Spread(left, flash, width, st.Ellipsis)
}

// selectedReason is why the pod under the cursor does not run, with the room of a line.
func (m *Model) selectedReason(room int) string {
	const lead, least = 2, 20
	t := m.table()
	if t == nil || t.reason == nil || room < least {
		return ""
	}
	reason := t.reason(room - lead)
	if reason == "" {
		return ""
	}
	return cell.Blank(lead) + m.st.Warn.Render(cell.Clean(m.st.Say(reason)))
}

// crumbs are the screens that esc goes back through. Where not all fit, the oldest are left out.
func (m *Model) crumbs(width int) string {
	st, line := m.st, ""
	for i := len(m.pages) - 1; i >= 0; i-- {
		text := st.Dim
		if i == len(m.pages)-1 {
			text = st.Accent
		}
		crumb := " " + text.Render("<"+cell.Clean(m.crumb(&m.pages[i]))+">")
		if line != "" && cell.Width(crumb)+cell.Width(line) > width {
			break
		}
		line = crumb + line
	}
	return line
}

// crumb of a page: its screen, or the object that it is about, whose name stays.
func (m *Model) crumb(p *page) string {
	if p.screen.crumb == nil {
		return m.st.Say(p.crumb())
	}
	return p.crumb()
}

// drawPrompt is the typed line, the completion that tab accepts, and what is wrong with it.
func (m *Model) drawPrompt(width int) string {
	st, value := m.st, m.prompt.input.Value()
	lead := m.promptLead(width)
	text, _ := m.promptText(width)
	line := st.Key.Render(lead) + st.Bold.Render(text) + st.Faint.Render(m.ghost())
	note := ""
	switch {
	case m.prompt.err != nil && m.prompt.mode == promptFilter:
		note = st.Bad.Render(st.Say("incomplete filter"))
	case m.prompt.mode == promptFilter && value == "":
		note = st.Faint.Render(st.Say("regular expression; ! inverts, -f fuzzy, -l labels"))
	case m.prompt.mode == promptFilter && grid.SelectorOf(value) != "":
		note = st.Faint.Render(st.Say("enter applies the selector"))
	case m.prompt.mode == promptCommand:
		note = st.Faint.Render(cell.Truncate(m.candidates(), max(width-40, 0), st.Ellipsis))
	}
	return cell.Spread(line, note+" ", width, st.Ellipsis)
}

// candidates are the words that completion knows, after the one it shows.
func (m *Model) candidates() string {
	line := m.prompt.input.Value()
	found := m.complete(line)
	for i, c := range found {
		if at := strings.LastIndex(c, " "); at >= 0 {
			found[i] = c[at+1:]
		}
	}
	return strings.Join(found, "  ")
}

// promptText is the part of the typed text that is seen, which has the cursor in it, and how many of its cells are before the cursor.
func (m *Model) promptText(width int) (text string, before int) {
	all, room := []rune(cell.Clean(m.prompt.input.Value())), max(width-cell.Width(m.promptLead(width))-2, 0)
	at := min(m.prompt.input.Position(), len(all))
	// The end of the text, else as much before the cursor as after it.
	from := fitting(all, room)
	if from >= at {
		from = fitting(all[:at], room/2)
	}
	return cell.Truncate(string(all[from:]), room, ""), cell.Width(string(all[from:at]))
}

// fitting is where the end of a text begins that takes no more than some cells.
func fitting(text []rune, cells int) int {
	from := 0
	for from < len(text) && cell.Width(string(text[from:])) > cells {
		from++
	}
	return from
}

// promptCursor is where the terminal's cursor belongs; nil while nothing is typed.
func (m *Model) promptCursor() *tea.Cursor {
	if m.prompt.mode == promptOff || m.tooSmall() {
		return nil
	}
	_, before := m.promptText(m.width)
	cursor := tea.NewCursor(cell.Width(m.promptLead(m.width))+before, m.frame().status.y)
	cursor.Blink = false
	return cursor
}

// drawMenu lists the keys of the view that matter most, as many as fit; the help always.
func (m *Model) drawMenu(width int) string {
	if m.prompt.mode == promptValue && m.prompt.err != nil {
		return m.drawRefusal(width)
	}
	actions := m.menu()
	help := ""
	if at := slices.IndexFunc(actions, func(a action) bool { return a.Help().Key == helpKey }); at >= 0 {
		help = m.menuItem(actions[at])
		actions = slices.Delete(actions, at, at+1)
	}
	line := ""
	for _, a := range actions {
		item := m.menuItem(a)
		if cell.Width(line)+cell.Width(item)+cell.Width(help) > width {
			break
		}
		line += item
	}
	return line + help
}

func (m *Model) menuItem(a action) string {
	return " " + m.st.Key.Render(a.Help().Key) + " " + m.st.Dim.Render(m.st.Say(a.Help().Desc)) + " "
}

// menu is what the menu shows: while a prompt is open its keys, else those of the view.
func (m *Model) menu() []action {
	switch m.prompt.mode {
	case promptOff:
	case promptConfirm:
		return []action{hint("y", m.prompt.request.verb), hint("n esc", "cancel")}
	default:
		return promptMenu[m.prompt.mode]
	}
	var out []action
	for _, a := range m.actions() {
		if a.menu && a.Enabled() {
			out = append(out, a)
		}
	}
	return out
}

func hint(label, help string) action {
	return action{Binding: key.NewBinding(key.WithKeys(label), key.WithHelp(label, help)), menu: true}
}

var promptMenu = map[promptMode][]action{
	promptCommand: {hint("enter", "run"), hint("tab", "complete"), hint("up down", "history"), hint("esc", "cancel")},
	promptValue:   {hint("enter", "plan the change"), hint("esc", "cancel"), hint("ctrl-u", "clear")},
	promptFilter:  {hint("enter", "apply"), hint("esc", "cancel"), hint("!", "inverts"), hint("-f", "fuzzy"), hint("-l", "labels")},
}
