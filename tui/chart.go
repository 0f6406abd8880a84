package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/history"
)

// chartState is what the chart shows.
type chartState struct {
	resource history.Resource
	// zoom moves away from the step that fits the whole history; negative is closer.
	zoom int
}

// zooms are what a column can cover, in eighths of the refresh interval.
var zooms = []time.Duration{1, 2, 4, 8, 16, 40, 80, 160}

// step is what a column of the chart covers: the least that shows the whole history, changed by the zoom. The steps are
// far apart, so that the chart does not creep while it fills.
func (m *Model) step(columns int) time.Duration {
	fit := 0
	since := m.history.Since()
	if recorded := m.past.value.moments; m.pastIsOf(m.page().node) && len(recorded) > 0 && recorded[0].At.Before(since) {
		since = recorded[0].At
	}
	if !since.IsZero() {
		covered := m.nodes.at.Sub(since) + m.interval
		for fit < len(zooms)-1 && m.interval*zooms[fit]/8*time.Duration(columns) < covered {
			fit++
		}
	}
	return m.interval * zooms[min(max(fit+m.chart.zoom, 0), len(zooms)-1)] / 8
}

var chartActions = []action{
	bind(groupView, true, "tab", "cpu or memory", (*Model).turnResource, "tab"),
	bind(groupView, true, "j k", "next, previous node", chartNode(1), "j", "down", "right", "l"),
	bind(groupView, false, "k up", "previous node", chartNode(-1), "k", "up", "left", "h"),
	bind(groupView, true, "a", "cluster", func(m *Model) tea.Cmd { m.page().node = ""; return m.askPast("") }, "a", "g"),
	bind(groupView, true, "+ -", "zoom", zoomBy(-1), "+", "="),
	bind(groupView, false, "-", "zoom out", zoomBy(1), "-"),
	bind(groupView, true, "enter", "node", (*Model).openChartNode, "enter", "x"),
}

// pastIsOf says whether the recorded past that is known is that of a node, or of the cluster where it is empty.
func (m *Model) pastIsOf(node string) bool {
	return m.past.known && m.past.question == pastQuestion(node)
}

func (m *Model) openChart(node string) tea.Cmd {
	return m.open(page{kind: chartScreen, node: node})
}

func (m *Model) turnResource() tea.Cmd {
	m.chart.resource = 1 - m.chart.resource
	return nil
}

func zoomBy(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.chart.zoom = min(max(m.chart.zoom+by, 1-len(zooms)), len(zooms)-1)
		return nil
	}
}

// chartNode goes through the cluster and its nodes, in the order of the node table.
func chartNode(by int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		s := m.page()
		if s.node == "" && by > 0 {
			m.nodeTable.Move(-m.nodeTable.Total())
		} else if m.nodeTable.Select(s.node); by < 0 && m.nodeTable.Cursor() == 0 {
			s.node = ""
			return m.askPast("")
		} else {
			m.nodeTable.Move(by)
		}
		if row := m.nodeTable.Selected(); row != nil {
			s.node = row.Name
		}
		return m.askPast(s.node)
	}
}

func (m *Model) openChartNode() tea.Cmd {
	node := m.page().node
	if node == "" {
		return m.say("this is the whole cluster; j and k select a node", false)
	}
	return m.open(page{kind: nodeScreen, node: node})
}
