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
func (m *Model) drawChart(r rect) []string {
	if node := m.page().node; node != "" && !m.history.Has(node) {
		return m.drawEmpty(r, "no history of "+cell.Clean(node), "it is not among the nodes seen last; a shows the cluster")
	}
	if r.h >= bothCharts {
		half := (r.h - 1) / 2
		lines := block(m.drawOne(history.CPU, rect{w: r.w, h: half}), rect{h: half})
		return append(append(lines, ""), m.drawOne(history.Memory, rect{w: r.w, h: r.h - 1 - half})...)
	}
	return m.drawOne(m.chart.resource, r)
}

// drawOne is one resource: its story in a line, the legend and the chart.
func (m *Model) drawOne(res history.Resource, r rect) []string {
	node, cpu, memory := m.page().node, m.summary.cpu, m.summary.memory
	if n := m.overview(node); n != nil {
		cpu, memory = story.Of(n.CPU), story.Of(n.Memory)
	}
	head, unit := m.summaryLine("cpu", cpu, quantity.Cores, " cores", r.w), quantity.Cores
	if res == history.Memory {
		head, unit = m.summaryLine("mem", memory, quantity.Bytes, "", r.w), quantity.Bytes
	}
	st := m.st
	if node != "" && !m.history.Measured(node, res) {
		what, why := "nothing was measured on "+cell.Clean(node), "its NodeMetric is absent or too old; enter says which"
		if m.nodes.value != nil {
			if unread := unknown.Of(m.nodes.value.Unknown).Because(unknown.NodeMetrics); unread != "" {
				what, why = "what is used on "+cell.Clean(node)+" is not known", unread
			}
		}
		return append([]string{head}, m.drawEmpty(rect{w: r.w, h: r.h - 1}, what, why)...)
	}
	chart := m.chartOf(node, res, max(r.w-area.AxisWidth-2, 0))
	chart.Unit = unit
	capacity := st.Bad.Render(st.Limit) + " " + st.Dim.Render("capacity")
	lines := []string{head, m.legend(story.ChartOrder, capacity, r.w), cell.Truncate("  "+m.pastNote(node, chart.Recorded), r.w, st.Ellipsis)}
	return append(lines, chart.Draw(r.h-len(lines), st)...)
}

// chartOf is what was watched, and left of it what was recorded before.
func (m *Model) chartOf(node string, res history.Resource, columns int) area.Chart {
	step := m.step(columns)
	chart := area.Chart{Points: m.history.Columns(node, res, m.nodes.at, step, step+2*m.interval, columns), Step: step}
	if !m.pastIsOf(node) {
		return chart
	}
	before := m.past.value
	recorded := history.Recorded(before.moments, res, m.nodes.at, step, step+2*before.step, columns)
	for i := range chart.Points {
		if chart.Points[i].Known() {
			break
		}
		if recorded[i].Known() {
			chart.Points[i], chart.Recorded = recorded[i], i+1
		}
	}
	return chart
}

// pastNote says where the left of a chart comes from, or why it is empty.
func (m *Model) pastNote(node string, recorded int) string {
	st, before := m.st, m.past.value
	switch {
	case m.past.question == pastQuestion(node) && m.past.err != nil:
		return st.Warn.Render("nothing recorded: " + cell.Clean(m.past.err.Error()))
	case !m.pastIsOf(node):
		return st.Faint.Render("asking for what was recorded before" + st.Ellipsis)
	case len(before.moments) == 0:
		return st.Warn.Render("nothing recorded: " + cell.Clean(before.missing))
	case recorded == 0:
		return st.Faint.Render("all of it was watched")
	}
	by := cell.Clean(before.by)
	if before.asked > 1 {
		by = fmt.Sprintf("the agents of %d of %s", before.answered, plural(before.asked, "node"))
	}
	return st.Dim.Render("recorded by " + by + ": use without requests and offers")
}
