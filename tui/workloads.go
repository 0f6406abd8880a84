package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// workloads lists what pods belong to.
type workloads struct {
	list[*diagnostics.WorkloadOverviewList, workloadRow]
}

// workloadsScreen lists the workloads of a namespace, or of all, with what their pods request, use and leave idle.
func workloadsScreen(m *Model) *screen {
	l := &workloads{}
	l.table, l.rows, l.reason = newWorkloadTable(m.clock.Now), workloadRows, workloadReason
	l.incomplete = func(a *diagnostics.WorkloadOverviewList) []string { return a.Incomplete }
	l.object = func(r *workloadRow) object { return rowObject(r.Namespace, r.Name) }
	l.labelled = func(selector string) labelQuestion { return labelledWorkloads(m.source, m.namespace, selector) }
	l.empty = func() (string, []string) {
		if m.namespace != "" {
			return "no workloads in namespace " + cell.Clean(m.namespace), []string{"0 shows all namespaces"}
		}
		return "no workloads in this cluster", []string{"a workload is what pods belong to, such as a Deployment"}
	}
	m.workloadNames = func() []string {
		rows := l.table.Rows()
		out := make([]string, len(rows))
		for i, r := range rows {
			out[i] = workloadKey(&r)
		}
		return out
	}
	return &screen{
		name: workloadsName,
		doc:  "The workloads, such as Deployments: what the pods of each request, use and leave idle, how many wait, and what is recommended",
		commands: []command{{name: "workloads", aliases: []string{"wl"}, args: "[NS] [/FILTER]", help: "list workloads", complete: (*Model).namespaces,
			run: func(m *Model, args string) tea.Cmd { return m.listIn(workloadsName, args) }}},
		keys: []action{
			bind(groupView, true, "enter", "pods", l.openPods, "enter", "p"),
			bind(groupView, true, "x", "explain", (*Model).explainSelected, "x"),
			eventsAction(), describeAction(), yamlAction(),
			bind(groupView, true, "0", "all namespaces", func(m *Model) tea.Cmd { return m.listIn(workloadsName, allNamespaces) }, "0"),
			bind(groupView, true, "w", "what if", l.scale, "w"),
			sortAction("N", "NAME", false),
			sortAction("P", "PODS", true),
			sortAction("W", "WAITING", true),
			sortAction("C", "CPU", true),
			sortAction("I", "CPU-IDLE", true),
			sortAction("M", "MEMORY", true),
			sortAction("B", "BATCH", true),
		},
		summary: true,
		title:   func(*page) string { return m.scopedTitle(workloadsName) },
		ask: func(*page) tea.Cmd {
			l.table.Hide(namespaceColumn, m.namespace != "") // the title says it
			src, query := m.source, source.WorkloadQuery{Namespace: m.namespace}
			return l.list.ask(m, "workloads "+query.Namespace, func(ctx context.Context) (*diagnostics.WorkloadOverviewList, error) {
				return askWorkloads(ctx, src, query)
			})
		},
		content: func(*page) content { return l.list.content() },
		learned: func(*page) tea.Cmd { return m.leadToNamespace(workloadsName, &l.feedState) },
	}
}

func workloadObject(namespace, name string) object {
	return object{kind: source.KindWorkload, namespace: namespace, name: name}
}

func askWorkloads(ctx context.Context, src source.Source, query source.WorkloadQuery) (*diagnostics.WorkloadOverviewList, error) {
	lister, err := offered[source.WorkloadLister](src, "list workloads")
	if err != nil {
		return nil, err
	}
	return lister.Workloads(ctx, query)
}

// labelledWorkloads asks for the workloads of the pods that a label selector selects.
func labelledWorkloads(src source.Source, namespace, selector string) labelQuestion {
	query := source.WorkloadQuery{Namespace: namespace, LabelSelector: selector}
	return labelQuestion{name: "workloads " + namespace + " " + selector, ask: func(ctx context.Context) (admitted, error) {
		list, err := askWorkloads(ctx, src, query)
		if err != nil {
			return nil, err
		}
		keys := make(admitted, len(list.Items))
		for i := range list.Items {
			keys[workloadKey(&workloadRow{&list.Items[i]})] = true
		}
		return keys, nil
	}}
}

// scale begins the command that forecasts more replicas of the workload under the cursor; their number is still to be typed.
func (l *workloads) scale(m *Model) tea.Cmd {
	row := l.table.Selected()
	if row == nil {
		return nil
	}
	line := scaleName + " " + workloadKey(row) + " "
	m.prompt.open(promptCommand, line)
	return m.askNames(line)
}

// openPods lists the pods of the workload under the cursor.
func (l *workloads) openPods(m *Model) tea.Cmd {
	row := l.table.Selected()
	if row == nil {
		return nil
	}
	return m.openRows(podsName, podsOfWorkload(row.Namespace, row.Name))
}
