package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/history"
	"koordinator.sh/koord/tui/internal/story"
)

// poll asks for what the current page shows. The nodes are always asked for: the summary and the history need them.
func (m *Model) poll() tea.Cmd {
	cmds := []tea.Cmd{m.askNodes()}
	if !m.cluster.known {
		m.cluster.accepted = m.learnCluster
		cmds = append(cmds, ask(m, &m.cluster, "cluster", m.source.Describe))
	}
	if p := m.page(); p.screen.ask != nil && !p.asked {
		m.noteAsked(p)
		cmds = append(cmds, p.screen.ask(p))
	}
	if t := m.table(); t != nil && t.Selector() != "" {
		cmds = append(cmds, m.askSelection(t))
	}
	return tea.Batch(cmds...)
}

// noteAsked remembers that a page asks, where that is to happen once.
func (m *Model) noteAsked(p *page) {
	for i := range m.pages {
		if m.pages[i].screen == p.screen {
			m.pages[i].asked = false
		}
	}
	p.asked = p.screen.once
}

// learnCluster keeps the parts that need no connection also when there is an error.
func (m *Model) learnCluster(a answer[source.Cluster]) {
	if a.err != nil {
		m.cluster.value = a.value
	}
}

func (m *Model) askNodes() tea.Cmd {
	src := m.source
	m.nodes.accepted = m.learnNodes
	return ask(m, &m.nodes.feed, "nodes", func(ctx context.Context) (*diagnostics.NodeOverviewList, error) {
		return src.Nodes(ctx, source.NodeQuery{})
	})
}

func (m *Model) learnNodes(a answer[*diagnostics.NodeOverviewList]) {
	if a.err != nil {
		return
	}
	rows := nodeRows(a.value)
	sample := history.Sample{At: a.at, Nodes: make(map[string][2]story.Parts, len(rows))}
	for i := range rows {
		sample.Nodes[rows[i].Name] = [2]story.Parts{rows[i].cpu, rows[i].memory}
	}
	m.summary = summaryOf(rows)
	sample.Cluster = [2]story.Parts{m.summary.cpu, m.summary.memory}
	m.history.Append(sample)
	m.nodes.table.SetRows(rows)
}

// overview is the node among the nodes seen last; nil when it is not there.
func (m *Model) overview(name string) *diagnostics.NodeOverview {
	if m.nodes.value == nil {
		return nil
	}
	for i := range m.nodes.value.Items {
		if m.nodes.value.Items[i].Name == name {
			return &m.nodes.value.Items[i]
		}
	}
	return nil
}
