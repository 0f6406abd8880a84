package tui

import (
	tea "charm.land/bubbletea/v2"
)

var nodesActions = []action{
	bind(groupView, true, "enter", "node", (*Model).openSelectedNode, "enter"),
	bind(groupView, true, "x", "explain", (*Model).openSelectedNode, "x"),
	bind(groupView, true, "v", "chart", (*Model).openSelectedChart, "v"),
	bind(groupView, true, "p", "pods", (*Model).openSelectedPods, "p"),
	describeAction, yamlAction,
	sortAction("N", "NAME", false),
	sortAction("S", "STATE", true),
	sortAction("C", "CPU", true),
	sortAction("M", "MEMORY", true),
	sortAction("B", "BATCH-CPU", true),
	sortAction("P", "PODS", true),
	sortAction("A", "AGE", true),
}

func (m *Model) openSelectedNode() tea.Cmd {
	row := m.nodeTable.Selected()
	if row == nil {
		return nil
	}
	return m.open(page{kind: nodeScreen, node: row.Name})
}

func (m *Model) openSelectedPods() tea.Cmd {
	row := m.nodeTable.Selected()
	if row == nil {
		return nil
	}
	return m.open(page{kind: nodeScreen, node: row.Name, tab: podsTab})
}

func (m *Model) openSelectedChart() tea.Cmd {
	row := m.nodeTable.Selected()
	if row == nil {
		return nil
	}
	return m.openChart(row.Name)
}

// drawNodes is the table of nodes.
func (m *Model) drawNodes(r rect) []string {
	switch {
	case m.nodeTable.Total() == 0:
		return m.drawEmpty(r, "this cluster has no nodes", "koordctl sandbox up --nodes 30   starts a cluster with simulated nodes")
	case m.nodeTable.Len() == 0:
		return m.drawNoMatch(r, m.nodeTable)
	}
	return m.nodeTable.Draw(r.w, r.h, true, m.st)
}
