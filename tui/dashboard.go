package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/area"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/history"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/story"
)

const (
	// matterInterval is how often the lists are asked what matters in them, forecastInterval how often what would move is, and checkInterval
	// how often the installation is checked: what reads more is asked for less often.
	matterInterval   = 15 * time.Second
	forecastInterval = time.Minute
	checkInterval    = 10 * time.Minute
	// forecastPods is the most pods of a cluster in which what would move is asked without being told to: the descheduler's decisions are run
	// over all pods, which takes some 20 KiB each.
	forecastPods = 20000
)

// dashboard is the co-location of the cluster over time, above what is wrong and what happens next.
type dashboard struct {
	list[matters, matter]
	chart         *chart
	moves, checks feed[matters]
}

// dashboardScreen shows the cluster at a glance.
func dashboardScreen(m *Model) *screen {
	d := &dashboard{chart: &chart{Model: m}}
	d.table, d.object = newMatterTable(), func(r *matter) object { return r.about }
	d.reason = func(r *matter, _ int) string { return r.text }
	d.empty = func() (string, []string) {
		if !d.known {
			return "looking at the lists" + m.st.Ellipsis, nil
		}
		return "nothing is wrong, and nothing is about to move", []string{":forecast says what the descheduler looks at; koordctl check looks at the installation"}
	}
	return &screen{
		name: dashboardName,
		doc:  "The cluster at a glance: co-location over time, what is wrong in each list, and what moves or ends next",
		commands: []command{{name: "dashboard", aliases: []string{"dash", "pulse"}, args: "[/FILTER]", help: "show the cluster at a glance",
			run: (*Model).commandDashboard}},
		keys: []action{
			bind(groupView, true, "enter", "list", d.openList, "enter"),
			bind(groupView, true, "x", "explain", d.explain, "x"),
			bind(groupView, true, "tab", "cpu or memory", d.chart.turnResource, "tab"),
			bind(groupView, true, "v", "chart", func(m *Model) tea.Cmd { return m.open(chartName, object{}) }, "v"),
			describeAction(), yamlAction(),
			sortAction("L", "LIST", false),
			sortAction("S", "STATE", true),
			sortAction("C", "COUNT", true),
		},
		summary: true,
		ask:     func(*page) tea.Cmd { return d.ask(m) },
		content: func(*page) content { return d.content(m) },
		learned: func(p *page) tea.Cmd {
			return tea.Batch(d.ask(m), m.leadToPods(p))
		},
	}
}

func (m *Model) commandDashboard(args string) tea.Cmd {
	_, filter, filtered := scopeOf(args)
	m.home(dashboardName)
	return tea.Batch(m.poll(), m.filterBy(filter, filtered))
}

// ask asks for the past of the cluster once, and for what matters now and then, once the nodes are known: they are what is shown first, and
// say how large the cluster is.
func (d *dashboard) ask(m *Model) tea.Cmd {
	src, now := m.source, m.clock.Now()
	d.fill(m) // the nodes are known before the lists are
	cmds := []tea.Cmd{d.chart.askPast("")}
	if !m.nodes.known && m.nodes.err == nil {
		return cmds[0]
	}
	if m.due(&d.feedState, matterInterval) {
		cmds = append(cmds, ask(m, &d.feed, "what matters", func(ctx context.Context) (matters, error) {
			return mattersOf(ctx, src, now, matterParts), nil
		}))
	}
	if pods := allPods(m.nodes.table.Rows()); pods > forecastPods {
		d.moves.drop()
		d.moves.value.missing = []string{forecastName + ": " + quantity.Count(pods) + " pods are too many to be looked at all the time; :forecast looks at them"}
	} else if m.due(&d.moves.feedState, forecastInterval) {
		cmds = append(cmds, ask(m, &d.moves, "what moves", func(ctx context.Context) (matters, error) {
			return mattersOf(ctx, src, now, forecastParts), nil
		}))
	}
	if m.check != nil && m.due(&d.checks.feedState, checkInterval) {
		parts := []part{{checksName, m.checkMatters}}
		cmds = append(cmds, askWithin(m, &d.checks, askOnceTimeout, "what is wrong", func(ctx context.Context) (matters, error) {
			return mattersOf(ctx, src, now, parts), nil
		}))
	}
	return tea.Batch(cmds...)
}

// allPods counts the pods of nodes.
func allPods(rows []nodeRow) int64 {
	var pods int64
	for i := range rows {
		if rows[i].Pods != nil {
			pods += int64(*rows[i].Pods)
		}
	}
	return pods
}

// due is true where nothing was asked yet, where that is long enough ago to ask again, and while ctrl-r asks.
func (m *Model) due(s *feedState, every time.Duration) bool {
	return m.forced || m.clock.Now().Sub(s.asked) >= every
}

// fill shows what is known. A cursor that was not moved stays at the top, where the gravest is.
func (d *dashboard) fill(m *Model) {
	top := d.table.Cursor() == 0
	d.table.SetRows(d.rows(m))
	if top {
		d.table.Move(-d.table.Total())
	}
}

// rows are what is wrong with nodes, which are known anyway, and what the lists and the forecast say.
func (d *dashboard) rows(m *Model) []matter {
	rows := slices.Concat(nodeMatters(m.nodes.table.Rows()), d.value.rows, d.checks.value.rows, d.moves.value.rows)
	slices.SortStableFunc(rows, byGravity)
	for i := range rows {
		rows[i].at = i
	}
	return rows
}

// content shows what is known of the nodes at once: the lists follow.
func (d *dashboard) content(m *Model) content {
	c := d.list.content()
	c.feed, c.incomplete = &m.nodes.feedState, nil
	if m.nodes.known {
		c.incomplete = slices.Concat(m.nodes.value.Incomplete, d.value.missing, d.checks.value.missing, d.moves.value.missing)
	}
	height := m.chartHeight()
	c.head, c.headLines = func(width int) []string { return d.head(width, height) }, height
	return c
}

// openList opens the list of the row under the cursor, with its problems only where the row is about these.
func (d *dashboard) openList(m *Model) tea.Cmd {
	row := d.table.Selected()
	if row == nil {
		return nil
	}
	if row.list == podsName {
		m.namespace = ""
	}
	cmd := m.open(row.list, object{})
	if t := m.table(); t != nil && t.Problems() == row.next {
		t.ToggleProblems()
	}
	return cmd
}

// explain explains the first object of the row under the cursor, where a screen explains such objects; else it opens the list.
func (d *dashboard) explain(m *Model) tea.Cmd {
	if row := d.table.Selected(); row != nil && m.explainerOf(row.about.kind) == nil {
		return d.openList(m)
	}
	return m.explainSelected()
}

// chartHeight is what the chart takes of the body: two fifths, and on small terminals no more than leaves room for a list.
func (m *Model) chartHeight() int {
	const least, most = 7, 18
	return min(max(m.frame().body.h*2/5, least), most)
}

// bothResources is the width from which cpu and memory are drawn beside each other.
const bothResources = 150

// head is the chart of one resource, or on a wide terminal of both.
func (d *dashboard) head(width, height int) []string {
	c := d.chart
	if width < bothResources {
		return block(c.glance(c.resource, rect{w: width, h: height}), rect{h: height})
	}
	half := width / 2
	left := block(c.glance(history.CPU, rect{w: half, h: height}), rect{h: height})
	right := block(c.glance(history.Memory, rect{w: width - half, h: height}), rect{h: height})
	for i := range left {
		left[i] = cell.Left(left[i], half, c.st.Ellipsis) + right[i]
	}
	return left
}

// glance is one resource of the cluster over time, under a line that says which.
func (c *chart) glance(res history.Resource, r rect) []string {
	name, unit := "cpu", quantity.Cores
	if res == history.Memory {
		name, unit = "memory", quantity.Bytes
	}
	drawn := c.chartOf("", res, max(r.w-area.AxisWidth-2, 0))
	drawn.Unit = unit
	title := c.st.Bold.Render(cell.Left(" "+name, area.AxisWidth, c.st.Ellipsis))
	lines := []string{cell.Truncate(title+c.legend(story.ChartOrder, "", r.w-area.AxisWidth), r.w, c.st.Ellipsis)}
	return append(lines, drawn.Draw(r.h-len(lines), c.st)...)
}
