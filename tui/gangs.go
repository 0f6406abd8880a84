package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/source"
)

// gangs lists the gangs.
type gangs struct {
	list[*source.Gangs, gangRow]
}

// gangsScreen lists the gangs, with how many members each has and needs.
func gangsScreen(m *Model) *screen {
	l := &gangs{}
	l.table, l.rows, l.reason = newGangTable(m.clock.Now), gangRows, func(r *gangRow, _ int) string { return r.why }
	l.incomplete = func(a *source.Gangs) []string { return a.Incomplete }
	l.object = func(r *gangRow) object { return gangObject(r.Namespace, r.Name) }
	l.empty = func() (string, []string) {
		return "no gangs in this cluster", []string{"pods of a PodGroup start together or not at all"}
	}
	m.gangNames = func() []string {
		var out []string
		for _, r := range l.table.Rows() {
			out = append(out, gangKey(&r))
		}
		return out
	}
	return &screen{
		name: gangsName,
		doc:  "The gangs: how many members of each exist, have a node and run, how many it needs, and what holds it back",
		commands: []command{{name: "gangs", aliases: []string{"pg", "podgroups"}, args: "[/FILTER]", help: "list gangs",
			run: commandList(gangsName)}},
		keys: []action{
			bind(groupView, true, "enter", "explain", (*Model).explainSelected, "enter", "x"),
			bind(groupView, true, "p", "member without a node", func(m *Model) tea.Cmd {
				if row := l.table.Selected(); row != nil {
					return m.explainMember(row.Gang)
				}
				return nil
			}, "p"),
			describeAction(), yamlAction(),
			sortAction("N", "NAME", false),
			sortAction("S", "STATE", true),
			sortAction("P", "PODS", true),
			sortAction("T", "SINCE", false),
		},
		ask: func(*page) tea.Cmd {
			src := m.source
			return l.list.ask(m, "gangs", func(ctx context.Context) (*source.Gangs, error) { return askGangs(ctx, src) })
		},
		content: func(*page) content { return l.list.content() },
	}
}

func gangObject(namespace, name string) object {
	return object{kind: source.KindGang, namespace: namespace, name: name}
}

func askGangs(ctx context.Context, src source.Source) (*source.Gangs, error) {
	lister, err := offered[source.GangLister](src, "list gangs")
	if err != nil {
		return nil, err
	}
	return lister.Gangs(ctx)
}

// explainMember explains the first member that has no node, else the first one.
func (m *Model) explainMember(g *source.Gang) tea.Cmd { return m.explainKnown(memberOf(g)) }

// memberOf is the first member without a node, or the first one where all have nodes.
func memberOf(g *source.Gang) object {
	about := podObject(g.Namespace, "")
	for i := range g.Members {
		if about.name == "" || g.Members[i].Waits() {
			about.name = g.Members[i].Name
		}
		if g.Members[i].Waits() {
			break
		}
	}
	return about
}
