package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source/proposal"
	"koordinator.sh/koord/tui/internal/cell"
)

// planScreen shows what a change of the configuration would do, and writes it.
func planScreen(m *Model) *screen {
	c := &changes{settings: m.settings}
	m.settings.changes = c
	apply, edit := bind(groupView, true, "a", "apply", c.apply, "a"), bind(groupView, true, "e", "edit", c.editAgain, "e")
	apply.withheld, edit.withheld = c.unappliable, c.withheld
	return &screen{
		name: planName,
		doc: "What a change of the configuration would do: the settings and nodes it changes, what they offer before and after, the pods that would be " +
			"suppressed or evicted, and what is wrong with it. It is planned once, again with `ctrl-r`, and nothing is written before `a` and a yes",
		commands: []command{{name: planName, args: "KEY.PATH=VALUE", help: "plan a change of the configuration", complete: c.assignments, run: commandOn(planName)}},
		keys: []action{
			apply, edit,
			bind(groupView, true, "w", "what if", func(m *Model) tea.Cmd { return m.open(whatifName, m.page().about) }, "w"),
			bind(groupView, true, "enter", "all nodes", func(m *Model) tea.Cmd {
				m.page().unfolded = !m.page().unfolded
				return nil
			}, "enter"),
		},
		title: func(p *page) string { return cell.Clean("plan " + p.about.name) },
		ask: func(p *page) tea.Cmd {
			src, now, about := m.source, m.clock.Now, p.about.name
			return tea.Batch(c.ask(), askWithin(m, &c.plan, askOnceTimeout, about, func(ctx context.Context) (*proposal.Plan, error) {
				return askPlan(ctx, src, about, now)
			}))
		},
		once: true,
		content: func(p *page) content {
			shown := content{feed: &c.plan.feedState, text: func(width int) []string { return c.planText(p, width) }}
			if c.plan.known {
				shown.incomplete = c.plan.value.Missing
			}
			return shown
		},
	}
}

// editAgain asks for another value.
func (c *changes) editAgain(m *Model) tea.Cmd {
	about := m.page().about.name
	if _, value, err := configuration.ParseAssignment(about); err == nil {
		c.askValue(strings.TrimSuffix(about, "="+value), value)
	}
	return nil
}

// planText is what came of writing, where that failed, then the plan as the command line prints it.
func (c *changes) planText(p *page, width int) []string {
	plan := c.plan.value
	rejected := plan.Change.Rejected(plan.Found)
	state, next := c.st.OK.Render(c.st.Check+" "+c.st.Say("Planned")), "nothing is written yet; a writes it"
	switch {
	case len(rejected) > 0:
		state, next = c.st.Bad.Render(c.st.Cross+" "+c.st.Say("Refused")), "the new configuration has errors: there is no plan for it, and nothing can be written"
	case unchanged(plan):
		state, next = c.st.Dim.Render(c.st.Dot+" "+c.st.Say("Unchanged")), "this is its value already; there is nothing to write"
	case c.failed == plan:
		state, next = c.st.Bad.Render(c.st.Cross+" "+c.st.Say("Not written")), "ctrl-r plans again"
	case c.withheld(p) != "":
		next = "it cannot be written here: " + c.withheld(p)
	case plan.Evictions() > 0:
		state = c.st.Warn.Render(c.st.Hot + " " + c.st.Say("Planned, evicts "+phrase.Counted(plan.Evictions(), "pod")))
	}
	lines := []string{c.heading(state, p.about.name, "", width)}
	if c.failed == plan {
		lines = append(lines, c.errorText(c.err, width)...)
	}
	lines = append(append(lines, c.sentence(next, width)...), "")
	return append(lines, c.printed(width, func(b *strings.Builder, o printer.Options) error {
		if len(rejected) > 0 {
			return printer.ConfigFindings(b, "the new "+plan.Change.Subject(), rejected, o)
		}
		o.Wide = p.unfolded
		return printer.ConfigPlan(b, printer.ConfigPlanView{Subject: plan.Change.Subject(), Plan: plan.Plan, Findings: plan.Found}, o)
	})...)
}
