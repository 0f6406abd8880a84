package tui

import (
	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/style"
)

// Themes are the names of the colours that can be chosen, the default ones first.
func Themes() []string { return style.Themes() }

// commandTheme changes the colours, or says which ones these are.
func (m *Model) commandTheme(name string) tea.Cmd {
	if name == "" {
		return m.say(m.st.Theme.Describe(), false)
	}
	theme, err := style.ParseTheme(name)
	if err != nil {
		return m.say(err.Error(), true)
	}
	m.restyle(func(a *style.Appearance) { a.Theme = theme })
	if !m.st.Colour() {
		return m.say("this terminal shows no colours", true)
	}
	return m.say(theme.Describe(), false)
}
