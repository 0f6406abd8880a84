package tui

import (
	tea "charm.land/bubbletea/v2"
)

// The tabs of a node: one a resource, then its pods, what its agent says, and its settings.
const (
	resourceTabs = 4
	podsTab      = resourceTabs
	agentTab     = resourceTabs + 1
	settingsTab  = resourceTabs + 2
	nodeTabs     = resourceTabs + 3
)

var tabNames = [nodeTabs]string{"batch-cpu", "batch-memory", "mid-cpu", "mid-memory", "pods", "agent", "settings"}

var nodeActions = []action{
	bind(groupView, true, "tab", "next tab", turnTab(1), "tab", "right", "l"),
	bind(groupView, false, "shift-tab", "previous tab", turnTab(-1), "shift+tab", "left", "h"),
	bind(groupView, true, "enter", "unfold or explain", (*Model).enterNode, "enter"),
	bind(groupView, false, "x", "explain the pod", (*Model).explainNodePod, "x"),
	bind(groupView, true, "p", "pods", func(m *Model) tea.Cmd { return m.showTab(podsTab) }, "p"),
	bind(groupView, false, "a", "what its agent does", func(m *Model) tea.Cmd { return m.showTab(agentTab) }, "a"),
	describeAction, yamlAction,
	bind(groupView, true, "v", "chart", func(m *Model) tea.Cmd { return m.openChart(m.page().node) }, "v"),
}

func turnTab(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		return m.showTab((m.page().tab + by + nodeTabs) % nodeTabs)
	}
}

func (m *Model) showTab(tab int) tea.Cmd {
	s := m.page()
	s.tab, s.scroll = tab, 0
	return m.poll()
}

func (m *Model) enterNode() tea.Cmd {
	s := m.page()
	if s.tab == podsTab {
		return m.openSelectedPod()
	}
	s.unfolded = !s.unfolded
	return nil
}

func (m *Model) explainNodePod() tea.Cmd {
	if m.page().tab == podsTab {
		return m.openSelectedPod()
	}
	return nil
}
