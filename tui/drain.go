package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// The tabs of a drain.
const (
	drainPodsTab = iota
	drainEffectsTab
	drainTabs
)

// drain shows what would happen if nodes were drained.
type drain struct {
	*Model
	pods list[*diagnostics.DrainForecast, drainRow]
}

// drainScreen lists the pods of nodes that would be drained, and shows what that does to the cluster.
func drainScreen(m *Model) *screen {
	d := &drain{Model: m}
	d.pods.table, d.pods.rows, d.pods.reason = newDrainTable(), drainRows, func(r *drainRow, _ int) string { return printer.DrainReason(r.DrainedPod) }
	d.pods.incomplete = func(f *diagnostics.DrainForecast) []string { return f.Incomplete }
	d.pods.object = func(r *drainRow) object { return podObject(r.Namespace, r.Name) }
	d.pods.empty = func() (string, []string) {
		return "no pods on " + cell.Clean(strings.Join(drainedNames(m.page().about), ", ")), []string{"tab shows what the cluster loses"}
	}
	return &screen{
		name: drainName,
		doc: "What kubectl drain would do to a node: which pods leave, when PodDisruptionBudgets let them go, which nodes they get, and what the cluster " +
			"loses. Nothing is changed, and koord-scheduler is asked once, again with `ctrl-r`",
		commands: []command{{name: "drain", args: "NODE...", help: "forecast what draining nodes does", complete: (*Model).nodeNames, run: (*Model).commandDrain}},
		keys: []action{
			bind(groupView, true, "tab", "next tab", turnTab(drainTabs, 1), "tab", "right", "l"),
			bind(groupView, false, "shift-tab", "previous tab", turnTab(drainTabs, -1), "shift+tab", "left", "h"),
			ofRow(bind(groupView, true, "enter", "explain pod", (*Model).explainSelected, "enter", "x")),
			bind(groupView, true, "n", "node", d.jump(func(r *drainRow) object { return nodeObject(r.Node) }), "n"),
			bind(groupView, true, "t", "target node", d.jump(func(r *drainRow) object { return nodeObject(r.To) }), "t"),
			ofRow(whatIfAction()), ofRow(describeAction()), ofRow(yamlAction()),
			sortAction("R", "ROUND", false),
			sortAction("P", "POD", false),
			sortAction("F", "FROM", false),
			sortAction("T", "TO", false),
		},
		crumb:   func(p *page) string { return "drain " + p.about.name },
		title:   func(p *page) string { return "drain " + cell.Clean(p.about.name) },
		ask:     d.ask,
		once:    true,
		content: d.content,
	}
}

// commandDrain opens the screen about one node or several, whose names a page holds as one.
func (m *Model) commandDrain(args string) tea.Cmd {
	names := strings.Fields(args)
	if len(names) == 0 {
		return m.say("node name required: :drain NODE", true)
	}
	return m.open(drainName, nodeObject(strings.Join(names, " ")))
}

// drainedNames are the names of the nodes that a page is about.
func drainedNames(about object) []string { return strings.Fields(about.name) }

func (d *drain) ask(p *page) tea.Cmd {
	src, query := d.source, source.DrainQuery{Names: drainedNames(p.about)}
	d.pods.table.Hide(drainFromColumn, len(query.Names) == 1) // the title says it
	return d.pods.askWithin(d.Model, askOnceTimeout, p.about.name, func(ctx context.Context) (*diagnostics.DrainForecast, error) {
		forecaster, err := offered[source.DrainForecaster](src, "forecast drains")
		if err != nil {
			return nil, err
		}
		return forecaster.ForecastDrain(ctx, query)
	})
}

func (d *drain) content(p *page) content {
	c := d.pods.content()
	c.click = d.click
	if p.tab == drainEffectsTab {
		c.table, c.text = nil, d.effectsText
		return c
	}
	c.head, c.headLines = d.drawHead, len(d.drawHead(d.width))
	return c
}

// click shows the tab that was clicked on.
func (d *drain) click(x, line int) (tea.Cmd, bool) {
	if line+d.page().scroll != len(d.drawHead(d.width))-2 { // the tabs are above a blank
		return nil, false
	}
	if tab := d.tabAt(d.tabNames(), x); tab >= 0 {
		return d.showTab(tab), true
	}
	return nil, true
}

func (d *drain) jump(to func(*drainRow) object) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		row := d.pods.table.Selected()
		if row == nil || m.table() == nil {
			return nil
		}
		return m.explainKnown(to(row))
	}
}

// ofRow is an action that does nothing where its screen shows a text in place of the table.
func ofRow(a action) action {
	run := a.run
	a.run = func(m *Model) tea.Cmd {
		if m.table() == nil {
			return nil
		}
		return run(m)
	}
	return a
}
