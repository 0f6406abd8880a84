package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// detail is the answer that the describe and yaml screens show of one object.
type detail struct {
	text       func(width int) []string
	incomplete []string
}

func describeAction() action {
	return bind(groupView, true, "d", "describe", openDetail(describeName), "d")
}

func yamlAction() action { return bind(groupView, true, "y", "yaml", openDetail(yamlName), "y") }

// describeScreen shows all that is known of an object, in the words of its subject.
func describeScreen(m *Model) *screen {
	s := detailScreen(m, describeName, "d", func(ctx context.Context, src source.Source, about object, subject *subject) (detail, error) {
		return subject.describe(ctx, src, about)
	})
	s.doc = "Every number that is known of a node, a pod or another object"
	s.commands[0].help = "describe an object: also KIND NAME"
	return s
}

// yamlScreen shows an object as YAML.
func yamlScreen(m *Model) *screen {
	s := detailScreen(m, yamlName, "y", m.yamlOf)
	s.doc = "An object as YAML"
	s.commands[0].help = "show an object as YAML: also KIND NAME"
	return s
}

// detailScreen shows what fetch brings of an object.
func detailScreen(m *Model, name, alias string, fetch func(context.Context, source.Source, object, *subject) (detail, error)) *screen {
	var answer feed[detail]
	return &screen{
		name: name,
		commands: []command{{name: name, aliases: []string{alias}, args: "NODE|NAMESPACE/POD", complete: (*Model).objectNames,
			run: func(m *Model, args string) tea.Cmd { return m.commandDetail(name, args) }}},
		keys: []action{
			bind(groupView, true, "enter", "explain", (*Model).explainSelected, "enter", "x"),
			bind(groupView, true, "d", "describe", turnDetail(describeName), "d"),
			bind(groupView, true, "y", "yaml", turnDetail(yamlName), "y"),
		},
		crumb: func(p *page) string { return name + " " + p.about.String() },
		title: func(p *page) string { return cell.Clean(name + " " + p.about.String()) },
		ask: func(p *page) tea.Cmd {
			src, about, explainer := m.source, p.about, m.explainerOf(p.about.kind)
			return ask(m, &answer, about.String(), func(ctx context.Context) (detail, error) {
				return fetch(ctx, src, about, explainer.subject)
			})
		},
		content: func(*page) content {
			c := content{feed: &answer.feedState, text: func(width int) []string { return answer.value.text(width) }}
			c.incomplete = answer.value.incomplete
			return c
		},
	}
}

// openDetail opens a screen about the object under the cursor, or the one that the current page is about.
func openDetail(name string) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		about, ok := m.selected()
		switch {
		case !ok:
			return nil
		case m.explainerOf(about.kind) == nil:
			return m.say(fmt.Sprintf("%s does not apply to a %s", name, about.kind.Name), false)
		}
		return m.open(name, about)
	}
}

// turnDetail changes between the two screens about the same object, in place.
func turnDetail(name string) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if s := m.screenOf(name); s != nil {
			m.page().screen, m.page().scroll = s, 0
		}
		return m.poll()
	}
}

// commandDetail opens a screen about the named object, or about the one that its key would open it about.
func (m *Model) commandDetail(name, args string) tea.Cmd {
	about, ok := m.objectNamed(args), true
	if args == "" {
		about, ok = m.selected()
		ok = ok && m.explainerOf(about.kind) != nil // no screen explains workloads
	}
	if !ok {
		return m.say(fmt.Sprintf("name required: :%s NODE|NAMESPACE/POD", name), true)
	}
	if m.explainerOf(about.kind) == nil {
		return m.say(fmt.Sprintf("no kind %q is known here: :%s NODE|NAMESPACE/POD or KIND NAME", strings.Fields(args)[0], name), true)
	}
	return m.open(name, about)
}

func (m *Model) describeNode(ctx context.Context, src source.Source, about object) (detail, error) {
	list, err := src.Nodes(ctx, source.NodeQuery{Names: []string{about.name}, Operands: true, Balance: true})
	if err != nil {
		return detail{}, err
	}
	if len(list.Items) == 0 {
		return detail{}, fmt.Errorf("describe node %q: the answer has no node", about.name)
	}
	return detail{text: func(width int) []string { return m.nodeDetail(&list.Items[0], width) }, incomplete: list.Incomplete}, nil
}

func (m *Model) describePod(ctx context.Context, src source.Source, about object) (detail, error) {
	list, err := src.Pods(ctx, source.PodQuery{Namespace: about.namespace, Names: []string{about.name}})
	if err != nil {
		return detail{}, err
	}
	if len(list.Items) == 0 {
		return detail{}, fmt.Errorf("describe pod %s: the answer has no pod", about.key())
	}
	return detail{text: func(width int) []string { return m.podDetail(&list.Items[0], width) }, incomplete: list.Incomplete}, nil
}

// yamlOf reads the object, or its explanation where the source cannot read objects or has none.
func (m *Model) yamlOf(ctx context.Context, src source.Source, about object, subject *subject) (detail, error) {
	object, incomplete, err := objectOf(ctx, src, about, subject)
	if err != nil {
		return detail{}, err
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		return detail{}, fmt.Errorf("write %s as YAML: %w", about, err)
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return detail{text: func(width int) []string { return m.yamlText(lines, width) }, incomplete: incomplete}, nil
}

// objectOf is the object; from a source that cannot read objects, the explanation that explain -o yaml prints.
func objectOf(ctx context.Context, src source.Source, about object, subject *subject) (found any, incomplete []string, err error) {
	reader, ok := src.(source.ObjectReader)
	if !ok {
		return subject.explanation(ctx, src, about)
	}
	kind, name := about.served()
	u, err := reader.Object(ctx, kind, about.namespace, name)
	if coded, ok := finding.From(err); ok && coded.Code == finding.NotFound {
		// A gang that its pods describe themselves has no object.
		if found, incomplete, err := subject.explanation(ctx, src, about); err == nil {
			return found, incomplete, nil
		}
	}
	if err != nil {
		return nil, nil, err
	}
	u = u.DeepCopy()
	u.SetManagedFields(nil) // as kubectl does
	return u.Object, nil, nil
}

func explanationOfNode(ctx context.Context, src source.Source, about object) (any, []string, error) {
	e, err := src.ExplainNode(ctx, about.name, diagnostics.NodeExplanationSpec{NodeName: about.name})
	if err != nil {
		return nil, nil, err
	}
	e = e.DeepCopy()
	e.TypeMeta = metav1.TypeMeta{APIVersion: diagnostics.GroupVersion.String(), Kind: "NodeExplanation"}
	return e, e.Status.Incomplete, nil
}

func explanationOfPod(ctx context.Context, src source.Source, about object) (any, []string, error) {
	e, err := src.ExplainPod(ctx, about.namespace, about.name, diagnostics.PodExplanationSpec{PodName: about.name})
	if err != nil {
		return nil, nil, err
	}
	e = e.DeepCopy()
	e.TypeMeta = metav1.TypeMeta{APIVersion: diagnostics.GroupVersion.String(), Kind: "PodExplanation"}
	return e, e.Status.Incomplete, nil
}
