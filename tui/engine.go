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

// engineScreen shows why the target of ElasticWorkers has the size it has, and which workers go.
func engineScreen(m *Model) *screen {
	var answer feed[*diagnostics.WorkersExplanation]
	return &screen{
		name: engineName,
		doc:  "The ElasticWorkers of one engine: why it has so many workers, which drain and until when, which go next, and how many fit on each node",
		commands: []command{{name: engineName, args: "NAMESPACE/NAME", help: "explain ElasticWorkers", complete: (*Model).knownWorkers,
			run: func(m *Model, args string) tea.Cmd { return m.commandAbout(source.KindWorkers, engineName, args) }}},
		keys: []action{
			bind(groupView, true, "x p", "explain worker", func(m *Model) tea.Cmd {
				if !answer.known {
					return nil
				}
				return m.explainKnown(workerThatGoes(answer.value))
			}, "x", "p"),
			bind(groupView, true, "n", "node", func(m *Model) tea.Cmd {
				if !answer.known {
					return nil
				}
				return m.explainKnown(nodeOfWorkers(answer.value))
			}, "n"),
			eventsAction(), describeAction(), yamlAction(),
		},
		subject: &subject{kind: source.KindWorkers, names: m.knownWorkers, describe: m.describeWorkers, explanation: explanationOfWorkers},
		crumb:   func(p *page) string { return p.about.name },
		title:   func(p *page) string { return "workers " + cell.Clean(p.about.key()) },
		ask: func(p *page) tea.Cmd {
			src, about := m.source, p.about
			return ask(m, &answer, about.key(), func(ctx context.Context) (*diagnostics.WorkersExplanation, error) {
				return explainWorkers(ctx, src, about)
			})
		},
		content: func(*page) content {
			c := content{feed: &answer.feedState, text: func(width int) []string { return m.workersText(answer.value, width) }}
			if answer.known {
				c.incomplete = answer.value.Incomplete
			}
			return c
		},
	}
}

// knownWorkers are the ElasticWorkers that were listed last.
func (m *Model) knownWorkers() []string { return m.workersNames() }

func explainWorkers(ctx context.Context, src source.Source, about object) (*diagnostics.WorkersExplanation, error) {
	explainer, err := offered[source.WorkersExplainer](src, "explain ElasticWorkers")
	if err != nil {
		return nil, err
	}
	return explainer.ExplainWorkers(ctx, about.namespace, about.name)
}

func explanationOfWorkers(ctx context.Context, src source.Source, about object) (any, []string, error) {
	e, err := explainWorkers(ctx, src, about)
	if err != nil {
		return nil, nil, err
	}
	return e, e.Incomplete, nil
}

func (m *Model) describeWorkers(ctx context.Context, src source.Source, about object) (detail, error) {
	e, err := explainWorkers(ctx, src, about)
	if err != nil {
		return detail{}, err
	}
	return detail{text: func(width int) []string { return m.workersText(e, width) }, incomplete: e.Incomplete}, nil
}

// workersText is the state, and below it what explain workers prints.
func (m *Model) workersText(e *diagnostics.WorkersExplanation, width int) []string {
	glyph, text := workersMark(e, m.st)
	lines := []string{m.heading(text.Render(glyph+" "+cell.Clean(e.State)), e.Namespace+"/"+e.Name, "", width)}
	return append(lines, m.printed(width, func(b *strings.Builder, options printer.Options) error { return printer.Workers(b, e, options) })...)
}

// workerThatGoes is the first worker that drains, or else the one that goes next.
func workerThatGoes(e *diagnostics.WorkersExplanation) object {
	switch {
	case len(e.Draining) > 0:
		return podObject(e.Namespace, e.Draining[0].Name)
	case len(e.Next) > 0:
		return podObject(e.Namespace, e.Next[0].Name)
	}
	return podObject("", "")
}

// nodeOfWorkers is the node with most workers, or else with most room.
func nodeOfWorkers(e *diagnostics.WorkersExplanation) object {
	most := nodeObject("")
	for i, workers := range e.Nodes {
		if i == 0 || workers.Workers > e.Nodes[0].Workers {
			most = nodeObject(workers.Name)
		}
	}
	return most
}
