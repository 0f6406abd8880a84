package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// group orders actions in the help.
type group string

const (
	groupMove group = "navigation"
	groupView group = "this view"
	groupSort group = "sort"
	groupApp  group = "general"
)

var groups = []group{groupView, groupSort, groupMove, groupApp}

// action is a key and what it does. The keys, the menu and the help are all made from the same actions, so that none of
// them can say what another does not do.
type action struct {
	key.Binding
	group group
	// menu shows the action at the bottom of the screen.
	menu bool
	run  func(*Model) tea.Cmd
	// withheld says why the action is not to be had on a page; empty where it is. It may be nil.
	withheld func(*page) string
}

func bind(g group, menu bool, label, help string, run func(*Model) tea.Cmd, keys ...string) action {
	return action{Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(label, help)), group: g, menu: menu, run: run}
}

// actions are the keys of the current view, its own first.
func (m *Model) actions() []action { return m.actionsOf(m.page()) }

func (m *Model) actionsOf(p *page) []action {
	own, c := p.screen.keys, p.content()
	out := make([]action, 0, len(own)+len(tableActions)+len(commonActions))
	for _, a := range own {
		if a.withheld == nil || a.withheld(p) == "" {
			out = append(out, a)
		}
	}
	switch {
	case c.table != nil:
		out = append(append(out, tableActions...), markActions...)
	case c.draw == nil:
		out = append(out, textActions...)
	}
	return append(out, commonActions...)
}

// press runs the action of a key.
func (m *Model) press(msg tea.KeyPressMsg) tea.Cmd {
	if msg.String() == "ctrl+c" {
		return tea.Quit
	}
	if m.tooSmall() {
		// Nothing is seen that a key could be meant for, but for the offer to quit.
		if msg.String() == "q" {
			return tea.Quit
		}
		return nil
	}
	if m.prompt.mode != promptOff {
		return m.pressPrompt(msg)
	}
	for _, a := range m.actions() {
		if key.Matches(msg, a.Binding) {
			return a.run(m)
		}
	}
	return nil
}

// helpKey is in every menu.
const helpKey = "?"

// commonActions work on every screen.
var commonActions = []action{
	bind(groupApp, true, ":", "command", (*Model).openCommand, ":"),
	bind(groupApp, true, helpKey, "help", (*Model).openHelp, helpKey),
	bind(groupApp, true, "esc", "back", (*Model).back, "esc"),
	bind(groupApp, true, "q", "back or quit", (*Model).quit, "q"),
	bind(groupApp, false, "ctrl-r", "refresh now", (*Model).refresh, "ctrl+r"),
	bind(groupApp, false, "ctrl-c", "quit", func(*Model) tea.Cmd { return tea.Quit }, "ctrl+c"),
}

// refresh asks for all that is seen, also what is not asked again by itself.
func (m *Model) refresh() tea.Cmd {
	m.page().asked, m.forced = false, true
	cmd := m.poll()
	m.forced = false
	return tea.Batch(cmd, m.say("refreshing", false))
}
