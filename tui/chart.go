package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/history"
)

// chart draws co-location over time.
type chart struct {
	*Model
	past     feed[past]
	resource history.Resource
	// zoom moves away from the step that fits the whole history; negative is closer.
	zoom int
}

// chartScreen draws the cluster, or one node, over time.
func chartScreen(m *Model) *screen { return (&chart{Model: m}).screen() }

func (c *chart) screen() *screen {
	return &screen{
		name:     chartName,
		doc:      "Co-location over time, of the cluster or of one node: what prod and batch pods used of what was there",
		commands: []command{{name: "chart", args: "[NODE]", help: "chart usage over time", complete: (*Model).nodeNames, run: (*Model).commandChart}},
		keys: []action{
			bind(groupView, true, "tab", "cpu or memory", c.turnResource, "tab"),
			bind(groupView, true, "j k", "next, previous node", c.moveTo(1), "j", "down", "right", "l"),
			bind(groupView, false, "k up", "previous node", c.moveTo(-1), "k", "up", "left", "h"),
			bind(groupView, true, "a", "cluster", func(*Model) tea.Cmd { return c.show("") }, "a", "g"),
			bind(groupView, true, "+ -", "zoom", func(*Model) tea.Cmd { return c.zoomBy(-1) }, "+", "="),
			bind(groupView, false, "-", "zoom out", func(*Model) tea.Cmd { return c.zoomBy(1) }, "-"),
			bind(groupView, true, "enter", "node", c.openNode, "enter", "x"),
		},
		title: c.title,
		ask:   func(p *page) tea.Cmd { return c.askPast(p.about.name) },
		content: func(*page) content {
			shown := content{feed: &c.nodes.feedState, draw: c.drawChart}
			if c.nodes.known {
				shown.incomplete = c.nodes.value.Incomplete
			}
			return shown
		},
		wheel: c.zoomBy,
	}
}

func (m *Model) commandChart(node string) tea.Cmd {
	if node == "" || node == "cluster" {
		return m.open(chartName, object{})
	}
	return m.open(chartName, nodeObject(node))
}

func (c *chart) title(p *page) string {
	if p.about.name == "" {
		return "chart(cluster)" + measuredOf(c.summary.cpu)
	}
	return "chart(" + cell.Clean(p.about.name) + ")"
}

// zooms are what a column can cover, in eighths of the refresh interval.
var zooms = []time.Duration{1, 2, 4, 8, 16, 40, 80, 160}

// step is what a column of the chart covers: the least that shows the whole history, changed by the zoom. The steps are
// far apart, so that the chart does not creep while it fills.
func (c *chart) step(columns int) time.Duration {
	fit := 0
	since := c.history.Since()
	if recorded := c.past.value.moments; c.pastIsOf(c.page().about.name) && len(recorded) > 0 && recorded[0].At.Before(since) {
		since = recorded[0].At
	}
	if !since.IsZero() {
		covered := c.nodes.at.Sub(since) + c.interval
		for fit < len(zooms)-1 && c.interval*zooms[fit]/8*time.Duration(columns) < covered {
			fit++
		}
	}
	return c.interval * zooms[min(max(fit+c.zoom, 0), len(zooms)-1)] / 8
}

// pastIsOf says whether the recorded past that is known is that of a node, or of the cluster where it is empty.
func (c *chart) pastIsOf(node string) bool {
	return c.past.known && c.past.question == pastQuestion(node)
}

func (c *chart) turnResource(*Model) tea.Cmd {
	c.resource = 1 - c.resource
	return nil
}

func (c *chart) zoomBy(by int) tea.Cmd {
	c.zoom = min(max(c.zoom+by, 1-len(zooms)), len(zooms)-1)
	return nil
}

// show changes to the chart of a node in place, or of the cluster where it is empty.
func (c *chart) show(node string) tea.Cmd {
	about := object{}
	if node != "" {
		about = nodeObject(node)
	}
	c.page().about = about
	return c.askPast(node)
}

// moveTo goes through the cluster and its nodes, in the order of the node table.
func (c *chart) moveTo(by int) func(*Model) tea.Cmd {
	return func(*Model) tea.Cmd {
		node, table := c.page().about.name, c.nodes.table
		if node == "" && by > 0 {
			table.Move(-table.Total())
		} else if table.Select(node); by < 0 && table.Cursor() == 0 {
			return c.show("")
		} else {
			table.Move(by)
		}
		if row := table.Selected(); row != nil {
			node = row.Name
		}
		return c.show(node)
	}
}

func (c *chart) openNode(*Model) tea.Cmd {
	about := c.page().about
	if about.name == "" {
		return c.say("the chart shows the whole cluster; j and k select a node", false)
	}
	return c.explain(about)
}
