package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// The tabs of a node: one a resource, then its pods, what its agent says, and its settings.
const (
	resourceTabs = 4
	podsTab      = resourceTabs
	agentTab     = resourceTabs + 1
	settingsTab  = resourceTabs + 2
	nodeTabs     = resourceTabs + 3
)

var tabNames = [nodeTabs]string{"batch-cpu", "batch-memory", "mid-cpu", "mid-memory", "pods", "agent", "settings"}

// node explains one node.
type node struct {
	*Model
	explanation feed[*diagnostics.NodeExplanation]
	agent       feed[*diagnostics.NodeExplanation]
	pods        *podList
	// shown are the contents of a resource, of the pods and of the agent.
	shown struct{ resource, pods, agent content }
}

// nodeScreen explains where the batch and mid resources of a node come from, lists its pods, and shows what its agent does.
func nodeScreen(m *Model) *screen {
	n := &node{Model: m, pods: m.newPodList(false)}
	n.pods.query = func() source.PodQuery { return source.PodQuery{NodeName: m.page().about.name} }
	n.prepare()
	n.pods.empty = func() (string, []string) { return "no pods on " + cell.Clean(m.page().about.name), nil }
	return &screen{
		name: nodeName,
		doc:  "One node: where its batch and mid resources come from, its pods, what its agent does, and the settings in force",
		commands: []command{{name: "node", args: "NAME", help: "explain a node's batch and mid resources", complete: (*Model).nodeNames,
			run: (*Model).commandNode}},
		keys: []action{
			bind(groupView, true, "tab", "next tab", turnTab(nodeTabs, 1), "tab", "right", "l"),
			bind(groupView, false, "shift-tab", "previous tab", turnTab(nodeTabs, -1), "shift+tab", "left", "h"),
			bind(groupView, true, "enter", "expand or explain", n.enter, "enter"),
			bind(groupView, false, "x", "explain pod", n.explainPod, "x"),
			bind(groupView, true, "p", "pods", func(*Model) tea.Cmd { return n.showTab(podsTab) }, "p"),
			whatIfAction(),
			bind(groupView, false, "a", "agent", func(*Model) tea.Cmd { return n.showTab(agentTab) }, "a"),
			describeAction(), yamlAction(),
			bind(groupView, true, "v", "chart", func(m *Model) tea.Cmd { return m.open(chartName, m.page().about) }, "v"),
		},
		subject: &subject{kind: source.KindNode, names: m.nodeNames, describe: m.describeNode, explanation: explanationOfNode},
		crumb:   func(p *page) string { return p.about.name },
		title:   func(p *page) string { return "node " + cell.Clean(p.about.name) },
		ask:     n.ask,
		content: n.content,
	}
}

func (m *Model) commandNode(name string) tea.Cmd {
	if name == "" {
		return m.say("node name required: :node NAME", true)
	}
	return m.open(nodeName, nodeObject(name))
}

func (n *node) ask(p *page) tea.Cmd {
	src, name := n.source, p.about.name
	cmds := []tea.Cmd{
		ask(n.Model, &n.explanation, name, func(ctx context.Context) (*diagnostics.NodeExplanation, error) {
			return src.ExplainNode(ctx, name, diagnostics.NodeExplanationSpec{NodeName: name})
		}),
		n.pods.poll(n.Model),
	}
	if p.tab == agentTab {
		cmds = append(cmds, n.askAgent(name))
	}
	return tea.Batch(cmds...)
}

// prepare makes what the contents of the tabs have at any time.
func (n *node) prepare() {
	n.shown.resource = content{feed: &n.explanation.feedState, text: n.below(n.nodeText), click: n.click}
	n.shown.agent = content{feed: &n.agent.feedState, text: n.below(n.agentText), click: n.click}
	n.shown.pods = content{head: n.drawHead, headLines: nodeHead, click: n.click}
}

func (n *node) content(p *page) content {
	switch p.tab {
	case podsTab:
		c, pods := n.shown.pods, n.pods.content()
		c.feed, c.table, c.incomplete = pods.feed, pods.table, pods.incomplete
		return c
	case agentTab:
		c := n.shown.agent
		if n.agent.known {
			c.incomplete = agentIncomplete(n.agent.value)
		}
		return c
	}
	c := n.shown.resource
	if n.explanation.known {
		c.incomplete = n.explanation.value.Status.Incomplete
	}
	return c
}

// below is the text of a tab below the head, which scrolls with it.
func (n *node) below(text func(width int) []string) func(width int) []string {
	return func(width int) []string { return append(n.drawHead(width), text(width)...) }
}

// click shows the tab that was clicked on.
func (n *node) click(x, line int) (tea.Cmd, bool) {
	if line+n.page().scroll != tabsLine {
		return nil, false
	}
	if tab := n.tabAt(n.tabNames(), x); tab >= 0 {
		return n.showTab(tab), true
	}
	return nil, true
}

func (n *node) enter(*Model) tea.Cmd {
	if p := n.page(); p.tab != podsTab {
		p.unfolded = !p.unfolded
		return nil
	}
	return n.explainSelected()
}

func (n *node) explainPod(*Model) tea.Cmd {
	if n.page().tab != podsTab {
		return nil
	}
	return n.explainSelected()
}
