package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

// poll asks for what the current screen shows. The nodes are always asked for: the summary and the history need them.
func (m *Model) poll() tea.Cmd {
	cmds := []tea.Cmd{m.askNodes()}
	if !m.cluster.known {
		cmds = append(cmds, ask(m, &m.cluster, "cluster", m.source.Describe))
	}
	switch s := m.page(); s.kind {
	case podsScreen:
		cmds = append(cmds, m.askPods())
	case nodeScreen:
		cmds = append(cmds, m.askNode(s.node), m.askNodePods(s.node))
		if s.tab == agentTab {
			cmds = append(cmds, m.askAgent(s.node))
		}
	case podScreen:
		cmds = append(cmds, m.askPod(s.namespace, s.pod))
	case chartScreen:
		cmds = append(cmds, m.askPast(s.node))
	case describeScreen, yamlScreen:
		cmds = append(cmds, m.askDetail(*s))
	}
	if t := m.table(); t != nil && t.Selector() != "" {
		cmds = append(cmds, m.askSelection(t))
	}
	return tea.Batch(cmds...)
}

func (m *Model) askNodes() tea.Cmd {
	src := m.source
	return ask(m, &m.nodes, "nodes", func(ctx context.Context) (*diagnostics.NodeOverviewList, error) {
		return src.Nodes(ctx, source.NodeQuery{})
	})
}

func (m *Model) askPods() tea.Cmd {
	src, query := m.source, source.PodQuery{Namespace: m.namespace}
	m.podTable.Hide(namespaceColumn, m.namespace != "") // the title says it
	if m.pods.question != "pods "+m.namespace {
		m.podTable.SetRows(nil)
	}
	return ask(m, &m.pods, "pods "+m.namespace, func(ctx context.Context) (*diagnostics.PodOverviewList, error) {
		return src.Pods(ctx, query)
	})
}

// namespaceNames and podNames are names for completion.
type (
	namespaceNames []string
	podNames       []string
)

const maxNames = 2000

// askNames asks for the names that the typed command can be completed with, once for a namespace.
func (m *Model) askNames(line string) tea.Cmd {
	src := m.source
	var cmds []tea.Cmd
	if !m.spaceNames.known {
		cmds = append(cmds, ask(m, &m.spaceNames, "namespaces", func(ctx context.Context) (namespaceNames, error) {
			return src.Names(ctx, source.KindNamespace, "", maxNames)
		}))
	}
	_, arg, _ := strings.Cut(line, " ")
	namespace, _, ok := strings.Cut(arg, "/")
	if ok && namespace != "" && m.podsOf.question != namespace {
		cmds = append(cmds, ask(m, &m.podsOf, namespace, func(ctx context.Context) (podNames, error) {
			return src.Names(ctx, source.KindPod, namespace, maxNames)
		}))
	}
	return tea.Batch(cmds...)
}

func (m *Model) askNodePods(node string) tea.Cmd {
	src := m.source
	if m.nodePods.question != node {
		m.nodePodTable.SetRows(nil)
	}
	return ask(m, &m.nodePods, node, func(ctx context.Context) (*diagnostics.PodOverviewList, error) {
		return src.Pods(ctx, source.PodQuery{NodeName: node})
	})
}

func (m *Model) askNode(node string) tea.Cmd {
	src := m.source
	return ask(m, &m.node, node, func(ctx context.Context) (*diagnostics.NodeExplanation, error) {
		return src.ExplainNode(ctx, node, diagnostics.NodeExplanationSpec{NodeName: node})
	})
}

// agentCandidates bounds the pods listed for each trigger of an eviction.
const agentCandidates = 5

// askAgent asks the agent of a node what it does to it. It is asked while somebody looks only.
func (m *Model) askAgent(node string) tea.Cmd {
	src := m.source
	return ask(m, &m.agent, node, func(ctx context.Context) (*diagnostics.NodeExplanation, error) {
		return src.ExplainNode(ctx, node, diagnostics.NodeExplanationSpec{NodeName: node, Agent: &diagnostics.AgentQuestion{
			Sections:      []diagnostics.AgentSection{diagnostics.SectionFeatures, diagnostics.SectionSuppression, diagnostics.SectionEvictions},
			MaxCandidates: new(int32(agentCandidates)),
		}})
	})
}

func (m *Model) askPod(namespace, pod string) tea.Cmd {
	src := m.source
	return ask(m, &m.pod, namespace+"/"+pod, func(ctx context.Context) (*diagnostics.PodExplanation, error) {
		return src.ExplainPod(ctx, namespace, pod, diagnostics.PodExplanationSpec{PodName: pod})
	})
}
