package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// pod explains one pod.
type pod struct {
	*Model
	explanation feed[*diagnostics.PodExplanation]
}

// podScreen explains why a pod is pending, or why it runs where it runs.
func podScreen(m *Model) *screen {
	d := &pod{Model: m}
	return &screen{
		name: podName,
		doc:  "One pod: why it is pending and what would help, or why it runs where it runs",
		commands: []command{{name: "explain", aliases: []string{"x", "pod"}, args: "NAMESPACE/POD", help: "explain why a pod waits or runs: or KIND NAME",
			complete: (*Model).podNames, run: (*Model).commandExplain}},
		keys: []action{
			bind(groupView, true, "n", "node", d.openNode, "n"),
			bind(groupView, true, "enter", "expand nodes", func(m *Model) tea.Cmd {
				m.page().unfolded = !m.page().unfolded
				return nil
			}, "enter"),
			whatIfAction(), eventsAction(), describeAction(), yamlAction(),
		},
		subject: &subject{kind: source.KindPod, names: m.podNames, describe: m.describePod, explanation: explanationOfPod},
		crumb:   func(p *page) string { return p.about.key() },
		title:   func(p *page) string { return "pod " + cell.Clean(p.about.key()) },
		ask:     d.ask,
		content: d.content,
	}
}

func (m *Model) commandExplain(args string) tea.Cmd {
	if kind, name, two := strings.Cut(args, " "); two {
		return m.explainOfKind(kind, strings.TrimSpace(name))
	}
	about := m.objectCalled(source.KindPod, args)
	if about.name == "" {
		return m.say("pod name required: :explain NAMESPACE/POD", true)
	}
	return m.open(podName, about)
}

func (d *pod) ask(p *page) tea.Cmd {
	src, about := d.source, p.about
	return ask(d.Model, &d.explanation, about.key(), func(ctx context.Context) (*diagnostics.PodExplanation, error) {
		return src.ExplainPod(ctx, about.namespace, about.name, diagnostics.PodExplanationSpec{PodName: about.name})
	})
}

func (d *pod) content(*page) content {
	c := content{feed: &d.explanation.feedState, text: d.podText}
	if d.explanation.known {
		c.incomplete = d.explanation.value.Status.Incomplete
	}
	return c
}

// openNode opens the node the pod runs on, or the one a fix would open up.
func (d *pod) openNode(*Model) tea.Cmd {
	if !d.explanation.known {
		return nil
	}
	st := d.explanation.value.Status
	name := st.Pod.NodeName
	if name == "" && st.Fix != nil {
		name = st.Fix.Node
	}
	if name == "" {
		return d.say("the pod is not assigned to a node", false)
	}
	return d.explain(nodeObject(name))
}
