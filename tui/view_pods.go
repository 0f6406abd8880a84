package tui

import "koordinator.sh/koord/tui/internal/cell"

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
