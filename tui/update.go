package tui

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"koordinator.sh/koord/tui/internal/style"
)

// Update takes one message. It does no input or output: what has to be asked is asked by the command it returns.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.handle(msg)
	m.settle()
	return m, cmd
}

func (m *Model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 0), max(msg.Height, 0)
	case tea.BackgroundColorMsg:
		m.restyle(func(a *style.Appearance) { a.Light = !msg.IsDark() })
	case tea.ColorProfileMsg:
		m.restyle(func(a *style.Appearance) { a.Profile = better(a.Profile, msg.Profile) })
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		return m.paste(msg)
	case tea.MouseClickMsg:
		return m.click(msg)
	case tea.MouseWheelMsg:
		return m.wheel(msg)
	case refreshMsg:
		return tea.Batch(m.poll(), m.after(m.interval, refreshMsg{}))
	case flashMsg:
		if msg.number == m.flash.number {
			m.flash.text = ""
		}
	case conclusion:
		return msg.conclude()
	case delivery:
		msg.deliver()
		if p := m.page(); p.screen.learned != nil {
			return p.screen.learned(p)
		}
	}
	return nil
}

// better lets the terminal raise the number of colours, never add colours where they are switched off.
func better(have, got colorprofile.Profile) colorprofile.Profile {
	if have <= colorprofile.ASCII {
		return have
	}
	return max(have, got)
}

func (m *Model) restyle(change func(*style.Appearance)) {
	a := m.st.Appearance
	change(&a)
	if a != m.st.Appearance {
		m.st = style.New(a)
	}
}

// settle sets the size of the table and keeps texts from being scrolled past their end.
func (m *Model) settle() {
	f := m.frame()
	if t := m.table(); t != nil {
		t.SetSize(f.body.w, f.body.h-1-m.tableTop(f))
	}
	s := m.page()
	if s.scroll > 0 && !m.awaited() { // an answer that is awaited again, after another object, is read on where it was
		lines, room := m.text(f)
		s.scroll = max(min(s.scroll, len(lines)-room), 0)
	}
}
