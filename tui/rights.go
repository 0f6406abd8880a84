package tui

import (
	tea "charm.land/bubbletea/v2"
)

// followRights leads a user who may not list what the workbench begins with to what he may: from the nodes to the pods, and from
// the pods of all namespaces to those of the context's namespace.
func (m *Model) followRights() tea.Cmd {
	switch m.page().kind {
	case nodesScreen:
		if m.led || len(m.pages) > 1 || m.nodes.known || !forbidden(m.nodes.err) {
			return nil
		}
		m.led = true
		return tea.Batch(m.open(page{kind: podsScreen}), m.say(m.nodes.err.Error()+"; esc shows the error", true))
	case podsScreen:
		own := m.cluster.value.Namespace
		if m.namespace != "" || own == "" || m.pods.known || !forbidden(m.pods.err) {
			return nil
		}
		text := m.pods.err.Error() + "; these are the pods of " + own
		m.namespace = own
		return tea.Batch(m.poll(), m.say(text, true))
	}
	return nil
}
