package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/line"
)

// promptMode is what the line at the bottom is for.
type promptMode int

const (
	promptOff promptMode = iota
	promptCommand
	promptFilter
	// promptValue takes a value, and promptConfirm y or n.
	promptValue
	promptConfirm
)

// prompt is the line of command mode, of the filter, and of what else is asked for.
type prompt struct {
	mode  promptMode
	input line.Editor
	// history of commands, oldest first; at is the one shown, len(history) while typing.
	history []string
	at      int
	// draft is what was typed before history was looked at.
	draft string
	// before is the filter that esc restores.
	before string
	err    error
	// request is what a value or a yes is asked for.
	request request
}

const maxHistory = 100

func (p *prompt) open(mode promptMode, text string) {
	p.mode, p.err, p.at, p.draft = mode, nil, len(p.history), ""
	p.input.Set(text)
}

func (p *prompt) close() {
	p.mode, p.err, p.request = promptOff, nil, request{}
}

func (p *prompt) remember(line string) {
	if line == "" || (len(p.history) > 0 && p.history[len(p.history)-1] == line) {
		return
	}
	p.history = append(p.history, line)
	if len(p.history) > maxHistory {
		p.history = p.history[1:]
	}
}

// recall shows an older or a newer command of the history.
func (p *prompt) recall(by int) {
	to := p.at + by
	if to < 0 || to > len(p.history) {
		return
	}
	if p.at == len(p.history) {
		p.draft = p.input.Value()
	}
	p.at = to
	text := p.draft
	if to < len(p.history) {
		text = p.history[to]
	}
	p.input.Set(text)
}

func (m *Model) openCommand() tea.Cmd {
	m.prompt.open(promptCommand, "")
	return m.askNames("")
}

func (m *Model) openFilter() tea.Cmd {
	m.prompt.before = m.table().Filter()
	m.prompt.open(promptFilter, m.prompt.before)
	return nil
}

func (m *Model) pressPrompt(msg tea.KeyPressMsg) tea.Cmd {
	switch name := msg.String(); {
	case m.prompt.mode == promptConfirm:
		return m.pressConfirm(name)
	case name == "esc":
		return m.cancelPrompt()
	case name == "enter":
		return m.submitPrompt()
	case name == "backspace" && m.prompt.mode != promptValue && m.prompt.input.Value() == "":
		return m.cancelPrompt()
	case m.prompt.mode == promptCommand && m.pressCommand(name):
		return m.askNames(m.prompt.input.Value())
	}
	if !m.prompt.input.Press(msg.String()) {
		m.prompt.input.Insert(msg.Text)
	}
	switch m.prompt.mode {
	case promptValue:
		m.prompt.err = nil // it was about what was typed before
	case promptFilter:
		m.filterLive()
	default:
		return m.askNames(m.prompt.input.Value())
	}
	return nil
}

// pressCommand handles the keys of command mode alone.
func (m *Model) pressCommand(name string) bool {
	p := &m.prompt
	switch name {
	case "up", "ctrl+p":
		p.recall(-1)
	case "down", "ctrl+n":
		p.recall(1)
	case "tab", "right":
		ghost := m.ghost()
		if ghost == "" {
			return name == "tab"
		}
		p.input.Insert(ghost)
	default:
		return false
	}
	return true
}

// ghost is what completion would add to the typed line.
func (m *Model) ghost() string {
	line := m.prompt.input.Value()
	if m.prompt.mode != promptCommand || line == "" || !m.prompt.input.AtEnd() {
		return ""
	}
	candidates := m.complete(line)
	if len(candidates) == 0 {
		return ""
	}
	ghost, _ := strings.CutPrefix(candidates[0], line)
	if ghost == candidates[0] {
		return ""
	}
	return ghost
}

func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	if m.prompt.mode != promptOff && m.prompt.mode != promptConfirm {
		m.prompt.input.Insert(msg.Content)
		m.filterLive()
	}
	return nil
}

// filterLive applies the filter while it is typed. One that does not parse yet leaves the table as it is, and so does a
// label selector, which is asked for when it is whole, and a dash alone, which may become -f or -l.
func (m *Model) filterLive() {
	t := m.table()
	if m.prompt.mode != promptFilter || t == nil {
		return
	}
	expr := m.prompt.input.Value()
	if m.prompt.err = grid.ParseFilter(expr); m.prompt.err == nil && grid.SelectorOf(expr) == "" && expr != "-" {
		_ = t.SetFilter(expr) // it has just been parsed
	}
}

func (m *Model) cancelPrompt() tea.Cmd {
	if t := m.table(); m.prompt.mode == promptFilter && t != nil {
		m.prompt.close()
		return m.filter(t, m.prompt.before)
	}
	m.prompt.close()
	return nil
}

func (m *Model) submitPrompt() tea.Cmd {
	if m.prompt.mode == promptValue {
		return m.submitValue()
	}
	mode, line, err := m.prompt.mode, strings.TrimSpace(m.prompt.input.Value()), m.prompt.err
	m.prompt.close()
	if mode == promptFilter {
		if err != nil {
			return m.say(err.Error(), true)
		}
		return m.filter(m.table(), line)
	}
	m.prompt.remember(line)
	return m.execute(line)
}
