package tui

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
