package tui

import (
	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/api/finding"
)

// forbidden says whether the user lacks the permission to see what was asked for.
func forbidden(err error) bool {
	coded, ok := finding.From(err)
	return ok && coded.Code == finding.Forbidden
}

// leadToPods opens the pods for a user who may not list the nodes that the workbench begins with.
func (m *Model) leadToPods(*page) tea.Cmd {
	if m.led || len(m.pages) > 1 || m.nodes.known || !forbidden(m.nodes.err) {
		return nil
	}
	m.led = true
	return tea.Batch(m.open(podsName, object{}), m.say(m.nodes.err.Error()+"; esc shows the error", true))
}

// leadToNamespace lists what is in the context's namespace, such as its pods, for a user who may not list that of all.
func (m *Model) leadToNamespace(what string, listed *feedState) tea.Cmd {
	own := m.cluster.value.Namespace
	if m.namespace != "" || own == "" || listed.known || !forbidden(listed.err) {
		return nil
	}
	text := listed.err.Error() + "; showing the " + what + " of namespace " + own
	m.namespace = own
	return tea.Batch(m.poll(), m.say(text, true))
}
