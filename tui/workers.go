package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// workers lists the ElasticWorkers.
type workers struct {
	list[*diagnostics.WorkersExplanationList, workersRow]
}

// workersScreen lists the ElasticWorkers of a namespace, or of all, with how many workers each engine has and gets.
func workersScreen(m *Model) *screen {
	l := &workers{}
	l.table, l.rows, l.reason = newWorkersTable(m.clock.Now), workersRows, func(r *workersRow, _ int) string { return r.Message }
	l.incomplete = func(a *diagnostics.WorkersExplanationList) []string { return a.Incomplete }
	l.object = func(r *workersRow) object { return workersObject(r.Namespace, r.Name) }
	l.labelled = func(selector string) labelQuestion { return labelledWorkers(m.source, m.namespace, selector) }
	l.empty = func() (string, []string) {
		if m.namespace != "" {
			return "no ElasticWorkers in namespace " + cell.Clean(m.namespace), []string{"0 shows all namespaces"}
		}
		return "no ElasticWorkers in this cluster", []string{"ElasticWorkers size the workers of an engine, such as Trino or Spark, to what nodes offer"}
	}
	m.workersNames = func() []string {
		var out []string
		for _, r := range l.table.Rows() {
			out = append(out, workersKey(&r))
		}
		return out
	}
	return &screen{
		name: workersName,
		doc:  "The ElasticWorkers: how many workers each engine has and gets, within which bounds, what limits them, and how many drain",
		commands: []command{{name: workersName, aliases: []string{"ew", "elasticworkers"}, args: "[NS] [/FILTER]", help: "list ElasticWorkers", complete: (*Model).namespaces,
			run: func(m *Model, args string) tea.Cmd { return m.listIn(workersName, args) }}},
		keys: []action{
			bind(groupView, true, "enter", "explain", (*Model).explainSelected, "enter", "x"),
			bind(groupView, true, "0", "all namespaces", func(m *Model) tea.Cmd { return m.listIn(workersName, allNamespaces) }, "0"),
			eventsAction(), describeAction(), yamlAction(),
			sortAction("N", "NAME", false),
			sortAction("S", "STATE", true),
			sortAction("C", "CURRENT", true),
			sortAction("D", "DESIRED", true),
			sortAction("I", "DRAINING", true),
			sortAction("A", "AGE", false),
		},
		summary: true,
		title:   func(*page) string { return m.scopedTitle(workersName) },
		ask: func(*page) tea.Cmd {
			l.table.Hide(namespaceColumn, m.namespace != "") // the title says it
			src, query := m.source, source.WorkersQuery{Namespace: m.namespace}
			return l.list.ask(m, "workers "+query.Namespace, func(ctx context.Context) (*diagnostics.WorkersExplanationList, error) {
				return askWorkers(ctx, src, query)
			})
		},
		content: func(*page) content { return l.list.content() },
		learned: func(*page) tea.Cmd { return m.leadToNamespace(workersName, &l.feedState) },
	}
}

func workersObject(namespace, name string) object {
	return object{kind: source.KindWorkers, namespace: namespace, name: name}
}

func askWorkers(ctx context.Context, src source.Source, query source.WorkersQuery) (*diagnostics.WorkersExplanationList, error) {
	lister, err := offered[source.WorkersLister](src, "list ElasticWorkers")
	if err != nil {
		return nil, err
	}
	return lister.Workers(ctx, query)
}

// labelledWorkers asks for the ElasticWorkers that a label selector selects.
func labelledWorkers(src source.Source, namespace, selector string) labelQuestion {
	query := source.WorkersQuery{Namespace: namespace, LabelSelector: selector}
	return labelQuestion{name: "workers " + namespace + " " + selector, ask: func(ctx context.Context) (admitted, error) {
		list, err := askWorkers(ctx, src, query)
		if err != nil {
			return nil, err
		}
		keys := make(admitted, len(list.Items))
		for i := range list.Items {
			keys[workersKey(&workersRow{&list.Items[i]})] = true
		}
		return keys, nil
	}}
}
