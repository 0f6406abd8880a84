package tui

import (
	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/cell"
)

var podsActions = append([]action{
	bind(groupView, true, "0", "all namespaces", func(m *Model) tea.Cmd { return m.setNamespace("") }, "0"),
}, podTableActions...)

// podTableActions work wherever pods are listed.
var podTableActions = []action{
	bind(groupView, true, "enter", "explain", (*Model).openSelectedPod, "enter", "x"),
	describeAction, yamlAction,
	sortAction("N", "NAME", false),
	sortAction("Q", "QOS", false),
	sortAction("S", "STATUS", true),
	sortAction("C", "CPU", true),
	sortAction("M", "MEMORY", true),
}

// setNamespace limits pods to a namespace; empty means all.
func (m *Model) setNamespace(namespace string) tea.Cmd {
	m.namespace = namespace
	return m.open(page{kind: podsScreen})
}

// selectedPod is the pod under the cursor, in whichever table pods are listed; nil when there is none.
func (m *Model) selectedPod() *podRow {
	if m.page().kind == nodeScreen {
		return m.nodePodTable.Selected()
	}
	return m.podTable.Selected()
}

func (m *Model) openSelectedPod() tea.Cmd {
	row := m.selectedPod()
	if row == nil {
		return nil
	}
	return m.open(page{kind: podScreen, namespace: row.Namespace, pod: row.Name})
}

// drawPods is the table of pods.
func (m *Model) drawPods(r rect) []string {
	switch {
	case m.podTable.Total() == 0 && m.namespace != "":
		return m.drawEmpty(r, "no pods in namespace "+cell.Clean(m.namespace), "0 shows all namespaces")
	case m.podTable.Total() == 0:
		return m.drawEmpty(r, "this cluster has no pods", "koordctl sandbox up --scenario colocation   starts services and batch jobs")
	case m.podTable.Len() == 0:
		return m.drawNoMatch(r, m.podTable)
	}
	return m.podTable.Draw(r.w, r.h, true, m.st)
}
