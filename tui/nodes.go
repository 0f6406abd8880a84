package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

type nodeList = list[*diagnostics.NodeOverviewList, nodeRow]

// nodesScreen lists the nodes. Its list is the model's, because the summary, the history and the chart need the nodes too.
func nodesScreen(m *Model) *screen {
	m.nodes = nodeList{
		table:      newNodeTable(m.clock.Now),
		incomplete: func(l *diagnostics.NodeOverviewList) []string { return l.Incomplete },
		object:     func(r *nodeRow) object { return nodeObject(r.Name) },
		empty: func() (string, []string) {
			return "no nodes in this cluster", []string{"koordctl sandbox up --nodes 30   starts a cluster with simulated nodes"}
		},
		labelled: m.labelledNodes,
	}
	return &screen{
		name: nodesName,
		doc:  "The nodes: what prod pods request and use, and what batch pods are offered",
		commands: []command{{name: "nodes", aliases: []string{"no", "node-list"}, args: "[/FILTER|KEY=VALUE]", help: "list nodes",
			run: (*Model).commandNodes}},
		keys: []action{
			bind(groupView, true, "enter", "node", (*Model).explainSelected, "enter"),
			bind(groupView, false, "x", "explain", (*Model).explainSelected, "x"),
			bind(groupView, true, "v", "chart", (*Model).chartSelected, "v"),
			bind(groupView, true, "p", "pods", (*Model).openSelectedPods, "p"),
			whatIfAction(),
			describeAction(), yamlAction(),
			sortAction("N", "NAME", false),
			sortAction("S", "STATE", true),
			sortAction("C", "CPU", true),
			sortAction("M", "MEMORY", true),
			sortAction("B", "BATCH-CPU", true),
			sortAction("P", "PODS", true),
			sortAction("A", "AGE", true),
		},
		summary: true,
		content: func(*page) content { return m.nodes.content() },
		learned: m.leadToPods,
	}
}

func (m *Model) commandNodes(args string) tea.Cmd {
	_, filter, filtered := scopeOf(args)
	m.home(nodesName)
	return tea.Batch(m.poll(), m.filterBy(filter, filtered))
}

// openSelectedPods lists the pods of the node under the cursor.
func (m *Model) openSelectedPods() tea.Cmd {
	if about, ok := m.selected(); ok {
		return m.openTab(nodeName, about, podsTab)
	}
	return nil
}

// chartSelected opens the chart of the node under the cursor, or of the one that the page is about.
func (m *Model) chartSelected() tea.Cmd {
	if about, ok := m.selected(); ok {
		return m.open(chartName, about)
	}
	return nil
}

func (m *Model) labelledNodes(selector string) labelQuestion {
	src := m.source
	return labelQuestion{name: "nodes " + selector, ask: func(ctx context.Context) (admitted, error) {
		list, err := src.Nodes(ctx, source.NodeQuery{LabelSelector: selector})
		if err != nil {
			return nil, err
		}
		keys := make(admitted, len(list.Items))
		for i := range list.Items {
			keys[list.Items[i].Name] = true
		}
		return keys, nil
	}}
}
