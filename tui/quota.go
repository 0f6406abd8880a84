package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	coreamount "koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/quotaview"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// quotaPage explains one ElasticQuota.
type quotaPage struct {
	*Model
	answer feed[*source.Quota]
}

// quotaScreen shows every resource of a quota.
func quotaScreen(m *Model) *screen {
	d := &quotaPage{Model: m}
	names := func(*Model) []string { return m.quotaNames() }
	return &screen{
		name: quotaScreenName,
		doc:  "One ElasticQuota: what it is guaranteed, may use now, uses and is asked for of every resource, and its place in the tree",
		commands: []command{{name: "quota", args: "NAMESPACE/NAME", help: "explain an ElasticQuota", complete: names,
			run: func(m *Model, args string) tea.Cmd { return m.commandAbout(source.KindQuota, "quota", args) }}},
		keys: []action{
			bind(groupView, true, "p", "pods", func(m *Model) tea.Cmd { return m.podsOfQuota(m.page().about.name) }, "p"),
			bind(groupView, true, "u", "parent", d.openParent, "u"),
			describeAction(), yamlAction(),
		},
		subject: &subject{kind: source.KindQuota, names: m.quotaNamesKnown, describe: m.describeQuota, explanation: explanationOfQuota},
		crumb:   func(p *page) string { return p.about.name },
		title:   func(p *page) string { return "quota " + cell.Clean(p.about.key()) },
		ask: func(p *page) tea.Cmd {
			src, about := m.source, p.about
			return ask(m, &d.answer, about.key(), func(ctx context.Context) (*source.Quota, error) { return askQuota(ctx, src, about) })
		},
		content: func(*page) content {
			return content{feed: &d.answer.feedState, text: func(width int) []string { return m.quotaText(d.answer.value, width) }}
		},
	}
}

// quotaNamesKnown are the ElasticQuotas that were listed last.
func (m *Model) quotaNamesKnown() []string { return m.quotaNames() }

func askQuota(ctx context.Context, src source.Source, about object) (*source.Quota, error) {
	all, err := askQuotas(ctx, src)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Namespace == about.namespace && all[i].Name == about.name {
			return &all[i], nil
		}
	}
	return nil, finding.Wrap(fmt.Errorf("elasticquota %q not found in namespace %q", about.name, about.namespace), finding.NotFound, "kubectl get elasticquotas -A")
}

func explanationOfQuota(ctx context.Context, src source.Source, about object) (any, []string, error) {
	q, err := askQuota(ctx, src, about)
	if err != nil {
		return nil, nil, err
	}
	overview := quotaview.Overview(q)
	overview.TypeMeta = metav1.TypeMeta{APIVersion: diagnostics.GroupVersion.String(), Kind: "QuotaOverview"}
	return overview, nil, nil
}

func (m *Model) describeQuota(ctx context.Context, src source.Source, about object) (detail, error) {
	q, err := askQuota(ctx, src, about)
	if err != nil {
		return detail{}, err
	}
	return detail{text: func(width int) []string { return m.quotaText(q, width) }}, nil
}

// openParent explains the quota above.
func (d *quotaPage) openParent(m *Model) tea.Cmd {
	if !d.answer.known {
		return nil
	}
	parent := d.answer.value.Parent
	if parent == "" || parent == extension.RootQuotaName {
		return m.say("the quota is directly below the root", false)
	}
	for _, key := range m.quotaNames() {
		if namespace, name, _ := strings.Cut(key, "/"); name == parent {
			return m.explain(quotaObject(namespace, name))
		}
	}
	return m.explain(quotaObject(m.page().about.namespace, parent))
}

// quotaText is every resource of a quota, and its place in the tree.
func (m *Model) quotaText(q *source.Quota, width int) []string {
	st := m.st
	state, why := stateOfQuota(q)
	glyph, text := state.mark(st)
	lines := []string{m.heading(text.Render(glyph+" "+state.word()), q.Namespace+"/"+q.Name, "", width)}
	lines = append(lines, m.sentence(why, width)...)
	lines = append(lines, "")
	lines = append(lines, m.factsText([]fact{
		{"parent", q.Parent}, {"tree", q.TreeID}, {"has children", yesNo(q.IsParent)}, {"lends unused min", yesNo(q.Lends)},
		{"namespaces", strings.Join(q.Namespaces, ", ")},
	}, width)...)
	if q.Misplaced != "" {
		lines = append(lines, m.sentence("problem: "+q.Misplaced, width)...)
	}
	for _, problem := range q.Problems[min(len(q.Problems), 1):] { // the first is the reason of the state
		lines = append(lines, m.sentence("problem: "+problem, width)...)
	}
	return append(lines, m.quotaTable(q, width)...)
}

// quotaTable has a line for each resource, and a bar below it.
func (m *Model) quotaTable(q *source.Quota, width int) []string {
	st := m.st
	resources := quotaview.Resources(q)
	amounts, numbers := make([]quotaAmounts, len(resources)), make([][]string, len(resources))
	// A number is never cut: half of one is another.
	number := 10
	for i, resource := range resources {
		amounts[i] = quotaAmounts(quotaview.AmountsOf(q, resource))
		numbers[i] = amounts[i].numbers()
		for _, text := range numbers[i] {
			number = max(number, len(text)+1)
		}
	}
	name := max(min(width-4-5*number, 16), 8)
	line := "  " + cell.Left("RESOURCE", name, st.Ellipsis)
	for _, title := range []string{"USED", "RUNTIME", "REQUEST", "MIN", "MAX"} {
		line += cell.Right(title, number, "")
	}
	lines := []string{"", st.Dim.Render(line)}
	for i, resource := range resources {
		line := "  " + st.Bold.Render(cell.Left(cell.Clean(coreamount.ShortName(resource)), name, st.Ellipsis))
		for _, text := range numbers[i] {
			line += st.Plain.Render(cell.Right(text, number, ""))
		}
		lines = append(lines, line, "  "+quotaBar(&amounts[i], min(max(width-4, 1), name+5*number), st))
	}
	return append(append(lines, ""), m.quotaLegend(width)...)
}
