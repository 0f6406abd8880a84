package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	coreamount "koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/quotaview"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// quotaHead is the number of lines above the quotas: what the bars mean.
const quotaHead = 1

// quotas lists the ElasticQuotas, one resource of them at a time.
type quotas struct {
	list[[]source.Quota, quotaRow]
	// resource that is shown; empty for the first that a quota has.
	resource corev1.ResourceName
}

// quotasScreen lists the ElasticQuotas as a tree.
func quotasScreen(m *Model) *screen {
	l := &quotas{}
	l.table, l.reason = newQuotaTable(), quotaReason
	l.rows = func(all []source.Quota) []quotaRow { return quotaRows(all, l.shownResource(all)) }
	l.object = func(r *quotaRow) object { return quotaObject(r.Namespace, r.Name) }
	l.empty = func() (string, []string) {
		return "no ElasticQuotas in this cluster", []string{"an ElasticQuota guarantees min to a group of pods, and lets it use up to max"}
	}
	m.quotaNames = func() []string {
		var out []string
		for _, r := range l.table.Rows() {
			out = append(out, quotaObject(r.Namespace, r.Name).key())
		}
		return out
	}
	return &screen{
		name: quotasName,
		doc:  "The ElasticQuotas as a tree: what each is guaranteed, may use now, uses and is asked for, and who borrows, lends and waits",
		commands: []command{{name: "quotas", aliases: []string{"eq", "elasticquotas"}, args: "[/FILTER]", help: "list ElasticQuotas",
			run: commandList(quotasName)}},
		keys: []action{
			bind(groupView, true, "enter", "explain", (*Model).explainSelected, "enter", "x"),
			bind(groupView, true, "tab", "next resource", l.turn(1), "tab", "right", "l"),
			bind(groupView, false, "shift-tab", "previous resource", l.turn(-1), "shift+tab", "left", "h"),
			bind(groupView, true, "p", "pods", l.openPods, "p"),
			describeAction(), yamlAction(),
			sortAction("N", "NAME", false),
			sortAction("S", "STATE", true),
			sortAction("U", "USED", true),
			sortAction("R", "REQUEST", true),
		},
		title: func(*page) string {
			if resource := l.shownResource(l.value); resource != "" {
				return "quotas(" + cell.Clean(coreamount.ShortName(resource)) + ")"
			}
			return "quotas"
		},
		ask: func(*page) tea.Cmd {
			src := m.source
			return l.list.ask(m, "quotas", func(ctx context.Context) ([]source.Quota, error) { return askQuotas(ctx, src) })
		},
		content: func(*page) content {
			c := l.list.content()
			c.head, c.headLines = m.quotaLegend, quotaHead
			return c
		},
	}
}

func quotaObject(namespace, name string) object {
	return object{kind: source.KindQuota, namespace: namespace, name: name}
}

func askQuotas(ctx context.Context, src source.Source) ([]source.Quota, error) {
	lister, err := offered[source.QuotaLister](src, "list ElasticQuotas")
	if err != nil {
		return nil, err
	}
	return lister.Quotas(ctx)
}

// shownResource is the resource of the table: the one chosen, or the first where no quota has that.
func (l *quotas) shownResource(all []source.Quota) corev1.ResourceName {
	resources := quotaResources(all)
	if len(resources) == 0 || slices.Contains(resources, l.resource) {
		return l.resource
	}
	return resources[0]
}

// turn shows another resource.
func (l *quotas) turn(by int) func(*Model) tea.Cmd {
	return func(*Model) tea.Cmd {
		resources := quotaResources(l.value)
		if len(resources) > 0 {
			at := slices.Index(resources, l.shownResource(l.value))
			l.resource = resources[(at+by+len(resources))%len(resources)]
			l.table.SetRows(l.rows(l.value))
		}
		return nil
	}
}

// openPods lists the pods that name the quota under the cursor.
func (l *quotas) openPods(m *Model) tea.Cmd {
	row := l.table.Selected()
	if row == nil {
		return nil
	}
	return m.podsOfQuota(row.Name)
}

// podsOfQuota lists the pods that name a quota in their label.
func (m *Model) podsOfQuota(name string) tea.Cmd {
	return m.commandPods(allNamespaces + " " + extension.LabelQuotaName + "=" + name)
}

// quotaResources are the resources that quotas limit, guarantee or use: cpu and memory first.
func quotaResources(all []source.Quota) []corev1.ResourceName {
	pointers := make([]*source.Quota, len(all))
	for i := range all {
		pointers[i] = &all[i]
	}
	return quotaview.Resources(pointers...)
}
