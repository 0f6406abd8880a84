package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// allNamespaces is what stands for all namespaces in commands.
const allNamespaces = "all"

// podsScreen lists the pods of a namespace, or of all.
func podsScreen(m *Model) *screen {
	l := m.newPodList(true)
	l.empty = func() (string, []string) {
		if m.namespace != "" {
			return "no pods in namespace " + cell.Clean(m.namespace), []string{"0 shows all namespaces"}
		}
		return "no pods in this cluster", []string{"koordctl sandbox up --scenario colocation   starts services and batch jobs"}
	}
	l.query = func() source.PodQuery { return source.PodQuery{Namespace: m.namespace} }
	return &screen{
		name: podsName,
		doc:  "The pods of a namespace, or of all: their QoS class and priority band, what they request and use, and why those that wait do",
		commands: []command{
			{name: "pods", aliases: []string{"po"}, args: "[NS] [/FILTER|KEY=VALUE]", help: "list pods", complete: (*Model).namespaces, run: (*Model).commandPods},
			{name: "ns", aliases: []string{"namespace"}, args: "NAME|all", help: "list the pods of a namespace", complete: (*Model).namespaces, run: (*Model).commandNamespace},
		},
		keys: append([]action{
			bind(groupView, true, "0", "all namespaces", func(m *Model) tea.Cmd { return m.setNamespace("") }, "0"),
		}, podTableActions()...),
		summary: true,
		title:   func(*page) string { return m.scopedTitle(podsName) },
		ask: func(*page) tea.Cmd {
			l.table.Hide(namespaceColumn, m.namespace != "") // the title says it
			return l.poll(m)
		},
		content: func(*page) content { return l.content() },
		learned: func(*page) tea.Cmd { return m.leadToNamespace(podsName, &l.feedState) },
	}
}

// scopedTitle is the title of a list of what is in the namespace that is shown.
func (m *Model) scopedTitle(name string) string {
	if m.namespace == "" {
		return name + "(" + allNamespaces + ")"
	}
	return name + "(" + cell.Clean(m.namespace) + ")"
}

// podTableActions work wherever pods are listed.
func podTableActions() []action {
	return []action{
		bind(groupView, true, "enter", "explain", (*Model).explainSelected, "enter", "x"),
		eventsAction(), whatIfAction(), describeAction(), yamlAction(),
		sortAction("N", "NAME", false),
		sortAction("Q", "QOS", false),
		sortAction("S", "STATUS", true),
		sortAction("C", "CPU", true),
		sortAction("M", "MEMORY", true),
	}
}

// podList lists the pods of a query.
type podList struct {
	list[*diagnostics.PodOverviewList, podRow]
	query func() source.PodQuery
}

// newPodList returns a list that completion knows the pods of.
func (m *Model) newPodList(withNode bool) *podList {
	l := &podList{}
	l.table, l.rows, l.reason = newPodTable(withNode), podRows, podReason
	l.incomplete = func(a *diagnostics.PodOverviewList) []string { return a.Incomplete }
	l.object = func(r *podRow) object { return podObject(r.Namespace, r.Name) }
	l.labelled = func(selector string) labelQuestion { return labelledPods(m.source, l.query(), selector) }
	m.podLists = append(m.podLists, l)
	return l
}

func (l *podList) poll(m *Model) tea.Cmd {
	src, query := m.source, l.query()
	return l.ask(m, "pods "+query.Namespace+"/"+query.NodeName, func(ctx context.Context) (*diagnostics.PodOverviewList, error) {
		return src.Pods(ctx, query)
	})
}

func labelledPods(src source.Source, query source.PodQuery, selector string) labelQuestion {
	query.LabelSelector = selector
	return labelQuestion{name: "pods " + query.Namespace + "/" + query.NodeName + " " + selector, ask: func(ctx context.Context) (admitted, error) {
		list, err := src.Pods(ctx, query)
		if err != nil {
			return nil, err
		}
		keys := make(admitted, len(list.Items))
		for i := range list.Items {
			keys[podKey(&podRow{&list.Items[i]})] = true
		}
		return keys, nil
	}}
}

func (m *Model) commandPods(args string) tea.Cmd { return m.listIn(podsName, args) }

// listIn opens a list of what is in the namespace that a command names, or in all, with the filter that it names.
func (m *Model) listIn(name, args string) tea.Cmd {
	namespace, filter, filtered := scopeOf(args)
	if namespace != "" || !filtered {
		m.namespace = namespaceOf(namespace)
	}
	return tea.Batch(m.open(name, object{}), m.filterBy(filter, filtered))
}

func (m *Model) commandNamespace(name string) tea.Cmd {
	if name == "" {
		return m.say("namespace required: :ns NAME or :ns all", true)
	}
	return m.setNamespace(namespaceOf(name))
}

func namespaceOf(name string) string {
	if name == allNamespaces {
		return ""
	}
	return name
}

// setNamespace limits pods to a namespace; empty means all.
func (m *Model) setNamespace(namespace string) tea.Cmd {
	m.namespace = namespace
	return m.open(podsName, object{})
}
