package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// capacityScreen shows how many more pods like one fit.
func capacityScreen(m *Model) *screen {
	c := &placement{Model: m}
	return &screen{
		name: capacityName,
		doc: "How many more pods like one would get a node, on which nodes, what refuses the next one, and how full the cluster is then. Nothing is " +
			"created, and koord-scheduler is asked once, again with `ctrl-r`",
		commands: []command{{name: "capacity", args: "NAMESPACE/POD", help: "forecast how many more pods like one fit", complete: (*Model).podNames,
			run: (*Model).commandCapacity}},
		keys: []action{
			bind(groupView, true, "enter", "expand nodes", c.expand, "enter"),
			bind(groupView, true, "x p", "explain pod", (*Model).explainSelected, "x", "p"),
			describeAction(), yamlAction(),
		},
		crumb: func(p *page) string { return "capacity " + p.about.key() },
		title: func(p *page) string { return "capacity for " + cell.Clean(p.about.key()) },
		ask: func(p *page) tea.Cmd {
			return c.askAbout(p.about.key(), source.CopiedPods{Kind: source.KindPod, Namespace: p.about.namespace, Name: p.about.name, Most: source.DefaultMost})
		},
		once:    true,
		content: c.content,
	}
}

func (m *Model) commandCapacity(args string) tea.Cmd {
	about := m.objectCalled(source.KindPod, strings.TrimSpace(args))
	if about.name == "" {
		return m.say("pod name required: :capacity NAMESPACE/POD", true)
	}
	return m.open(capacityName, about)
}
