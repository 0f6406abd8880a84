package tui

import (
	"fmt"

	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/tui/internal/area"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/history"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/story"
)

// bothCharts is the height from which cpu and memory are drawn together.
const bothCharts = 34

// drawChart is the co-location story over time.
func (c *chart) drawChart(r rect) []string {
	if c.nodes.table.Total() == 0 {
		what, hints := c.nodes.empty()
		return c.drawEmpty(r, what, hints...)
	}
	if node := c.page().about.name; node != "" && !c.history.Has(node) {
		return c.drawEmpty(r, "no data for node "+cell.Clean(node), "there is no node of that name; a shows the cluster")
	}
	if r.h >= bothCharts {
		half := (r.h - 1) / 2
		lines := block(c.drawOne(history.CPU, rect{w: r.w, h: half}), rect{h: half})
		return append(append(lines, ""), c.drawOne(history.Memory, rect{w: r.w, h: r.h - 1 - half})...)
	}
	return c.drawOne(c.resource, r)
}

// drawOne is one resource: its story in a line, the legend and the chart.
func (c *chart) drawOne(res history.Resource, r rect) []string {
	node, cpu, memory := c.page().about.name, c.summary.cpu, c.summary.memory
	if n := c.overview(node); n != nil {
		cpu, memory = story.Of(n.CPU), story.Of(n.Memory)
	}
	head, unit := c.summaryLine("cpu", cpu, quantity.Cores, " cores", r.w), quantity.Cores
	if res == history.Memory {
		head, unit = c.summaryLine("mem", memory, quantity.Bytes, "", r.w), quantity.Bytes
	}
	st := c.st
	if node != "" && !c.history.Measured(node, res) {
		what, why := "no usage data for node "+cell.Clean(node), "its NodeMetric is missing or too old; enter explains the node"
		if c.nodes.value != nil {
			if unread := unknown.Of(c.nodes.value.Unknown).Because(unknown.NodeMetrics); unread != "" {
				what, why = "the usage of node "+cell.Clean(node)+" is unknown", unread
			}
		}
		return append([]string{head}, c.drawEmpty(rect{w: r.w, h: r.h - 1}, what, why)...)
	}
	drawn := c.chartOf(node, res, max(r.w-area.AxisWidth-2, 0))
	drawn.Unit = unit
	capacity := st.Bad.Render(st.Limit) + " " + st.Dim.Render(st.Say("capacity"))
	lines := []string{head, c.legend(story.ChartOrder, capacity, r.w), cell.Truncate("  "+c.pastNote(node, drawn.Recorded), r.w, st.Ellipsis)}
	return append(lines, drawn.Draw(r.h-len(lines), st)...)
}

// chartOf is what was watched, and left of it what was recorded before.
func (c *chart) chartOf(node string, res history.Resource, columns int) area.Chart {
	step := c.step(columns)
	drawn := area.Chart{Points: c.history.Columns(node, res, c.nodes.at, step, step+2*c.pace(&c.nodes.feedState), columns), Step: step}
	if !c.pastIsOf(node) {
		return drawn
	}
	before := c.past.value
	recorded := history.Recorded(before.moments, res, c.nodes.at, step, step+2*before.step, columns)
	for i := range drawn.Points {
		if drawn.Points[i].Known() {
			break
		}
		if recorded[i].Known() {
			drawn.Points[i], drawn.Recorded = recorded[i], i+1
		}
	}
	return drawn
}

// pastNote says where the left of a chart comes from, or why it is empty.
func (c *chart) pastNote(node string, recorded int) string {
	st, before := c.st, c.past.value
	switch {
	case c.past.question == pastQuestion(node) && c.past.err != nil:
		return st.Warn.Render(st.Say("no recorded usage: " + cell.Clean(c.past.err.Error())))
	case !c.pastIsOf(node):
		return st.Faint.Render(st.Say("loading recorded usage") + st.Ellipsis)
	case len(before.moments) == 0:
		return st.Warn.Render(st.Say("no recorded usage: " + cell.Clean(before.missing)))
	case recorded == 0:
		return st.Faint.Render(st.Say("all data is live"))
	}
	by := cell.Clean(before.by)
	if before.asked > 1 {
		by = fmt.Sprintf("the agents of %d of %s", before.answered, plural(before.asked, "node"))
	}
	return st.Dim.Render(st.Say("recorded by " + by + ": usage only, no requests or offers"))
}
