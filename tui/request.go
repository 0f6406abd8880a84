package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/cell"
)

// request is what a value or a yes is asked for in the line at the bottom.
type request struct {
	// lead stands before the value, and is the question that a yes answers.
	lead string
	// take takes the value. With an error the line stays open and says it.
	take func(value string) (tea.Cmd, error)
	// yes and no are what the answers do.
	yes, no func() tea.Cmd
	// verb is what a yes does, in the menu.
	verb string
}

// askValue asks for a value, beginning with the one there is.
func (m *Model) askValue(r request, value string) {
	m.prompt.open(promptValue, value)
	m.prompt.request = r
}

// confirm asks a question. Only y is a yes.
func (m *Model) confirm(r request) {
	m.prompt.open(promptConfirm, "")
	m.prompt.request = r
}

func (m *Model) pressConfirm(key string) tea.Cmd {
	r := m.prompt.request
	switch key {
	case "y", "Y":
		m.prompt.close()
		return r.yes()
	case "n", "N", "esc", "enter", "q":
		m.prompt.close()
		return r.no()
	}
	return nil
}

func (m *Model) submitValue() tea.Cmd {
	cmd, err := m.prompt.request.take(strings.TrimSpace(m.prompt.input.Value()))
	if err != nil {
		m.prompt.err = err
		return nil
	}
	return cmd
}

// promptLead is what stands before the typed text.
func (m *Model) promptLead(width int) string {
	switch m.prompt.mode {
	case promptFilter:
		return " /"
	case promptValue:
		return " " + cell.Middle(cell.Clean(m.prompt.request.lead), width*2/3, m.st.Ellipsis) + " = "
	case promptConfirm:
		const choice = " [y/N] "
		return " " + cell.Truncate(cell.Clean(m.prompt.request.lead), width-len(choice)-2, m.st.Ellipsis) + choice
	}
	return " :"
}

// drawRefusal is what is wrong with the value that was typed, in place of the menu.
func (m *Model) drawRefusal(width int) string {
	return cell.Truncate(" "+m.st.Bad.Render(m.st.Cross+" "+cell.Clean(m.prompt.err.Error())), width, m.st.Ellipsis)
}
