package tui

import (
	tea "charm.land/bubbletea/v2"
)

var podActions = []action{
	bind(groupView, true, "n", "its node", (*Model).openPodNode, "n"),
	bind(groupView, true, "enter", "unfold nodes", func(m *Model) tea.Cmd {
		m.page().unfolded = !m.page().unfolded
		return nil
	}, "enter"),
	describeAction, yamlAction,
}

// openPodNode opens the node the pod runs on, or the one a fix would open up.
func (m *Model) openPodNode() tea.Cmd {
	if !m.pod.known {
		return nil
	}
	st := m.pod.value.Status
	name := st.Pod.NodeName
	if name == "" && st.Fix != nil {
		name = st.Fix.Node
	}
	if name == "" {
		return m.say("the pod has no node yet", false)
	}
	return m.open(page{kind: nodeScreen, node: name})
}
