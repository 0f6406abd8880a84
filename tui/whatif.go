package tui

import (
	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/style"
)

// nothingChanged is said of each answer to what would be if.
const nothingChanged = "a forecast, nothing is changed; ctrl-r asks again"

// whatIfAction asks what would be if something were done with the nodes that are marked, or with the object under the cursor.
func whatIfAction() action {
	return bind(groupView, true, "w", "what if", (*Model).whatIfChosen, "w")
}

// whatIf asks what would be if a node were drained, or there were more pods like one.
func (m *Model) whatIf(about object) tea.Cmd {
	if about.name == "" {
		return m.explainKnown(about) // which says so
	}
	switch about.kind {
	case source.KindNode, source.KindDevice: // a Device is named after its node
		return m.open(drainName, nodeObject(about.name))
	case source.KindPod:
		return m.open(capacityName, about)
	}
	return nil
}

// roleStyle is the mark and the style of what the command line prints in a role.
func roleStyle(role printer.Role, st *style.Set) (string, style.Style) {
	switch role {
	case printer.Good:
		return st.Check, st.OK
	case printer.Warn:
		return st.Hot, st.Warn
	case printer.Bad:
		return st.Cross, st.Bad
	case printer.Dim:
		return st.Dot, st.Dim
	}
	return st.Dot, st.Plain
}
