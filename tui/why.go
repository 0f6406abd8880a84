package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
)

// named are the objects of a name that can be explained.
type named struct {
	objects []object
	// unseen says which kinds were not looked at, and why.
	unseen []string
}

// why finds out what has a name, and leads to its explanation.
type why struct {
	model *Model
	list[named, object]
}

// whyScreen lists what has a name where that is more than one object, or none. Where it is one, its explanation takes the place of the page.
func whyScreen(m *Model) *screen {
	w := &why{model: m}
	w.table = newNamedTable()
	w.rows = func(n named) []object { return n.objects }
	w.incomplete = func(n named) []string { return n.unseen }
	w.object = func(about *object) object { return *about }
	w.empty = func() (string, []string) {
		return "no object that can be explained has this name", []string{":why NAMESPACE/NAME looks in another namespace", ":why KOORD0102 explains a finding code"}
	}
	return &screen{
		name: whyName,
		doc:  "Whatever has a name: an object is explained at once, and listed here where several have the name",
		commands: []command{{name: "why", args: "NAME|KIND NAME|CODE", help: "explain whatever has a name, or a finding code",
			complete: whyNames, run: (*Model).commandWhy}},
		keys: []action{
			bind(groupView, true, "enter", "explain", (*Model).explainSelected, "enter", "x"),
			describeAction(), yamlAction(),
		},
		crumb: func(p *page) string { return "why " + p.about.key() },
		title: func(p *page) string { return "why " + cell.Clean(p.about.key()) },
		ask: func(p *page) tea.Cmd {
			src, about, kinds := m.source, p.about, m.explainedKinds()
			return w.list.ask(m, about.key(), func(ctx context.Context) (named, error) { return askNamed(ctx, src, kinds, about) })
		},
		learned: w.lead,
		content: func(*page) content { return w.list.content() },
	}
}

// lead opens the explanation of the only object of the name, in the place of the page.
func (w *why) lead(p *page) tea.Cmd {
	if !w.known || w.question != p.about.key() || len(w.value.objects) != 1 {
		return nil
	}
	w.model.leave()
	return w.model.explain(w.value.objects[0])
}

// askNamed looks for objects of a name, of each kind that is explained.
func askNamed(ctx context.Context, src source.Source, kinds []source.Kind, about object) (named, error) {
	reader, err := offered[source.ObjectReader](src, "look for an object by its name")
	if err != nil {
		return named{}, err
	}
	found, unseen, err := source.KindsNamed(ctx, reader, kinds, about.namespace, about.name)
	if err != nil {
		return named{}, err
	}
	n := named{unseen: unseen}
	for _, kind := range found {
		one := object{kind: kind, name: about.name}
		if kind.Namespaced {
			one.namespace = about.namespace
		}
		n.objects = append(n.objects, one.shown())
	}
	return n, nil
}

// explainedKinds are the kinds of objects that a screen explains and that the API server has. A Device is left out, because it has the name of
// its node.
func (m *Model) explainedKinds() []source.Kind {
	var kinds []source.Kind
	for _, s := range m.screens {
		if s.subject != nil && s.subject.kind.API.Kind != "" && s.subject.kind != source.KindDevice && s.subject.kind != source.KindWorkload {
			kinds = append(kinds, s.subject.kind)
		}
	}
	return append(kinds, source.ExplainedWorkloads...)
}

// commandWhy explains a code, an object whose kind is named as KIND NAME or KIND/NAME, or whatever has the name. The namespace may follow
// as -n NAMESPACE, because answers name commands of koordctl like that.
func (m *Model) commandWhy(args string) tea.Cmd {
	args = namespaceFirst(args)
	if args == "" {
		if about, ok := m.selected(); ok && m.explainerOf(about.kind) != nil {
			return m.explain(about)
		}
		return m.say("name required: :why NAME, KIND NAME or CODE", true)
	}
	if code, ok := finding.ParseCode(args); ok {
		return m.explainCode(code)
	}
	if kind, name, two := strings.Cut(args, " "); two {
		return m.explainOfKind(kind, strings.TrimSpace(name))
	}
	if kind, name, two := strings.Cut(args, "/"); two && m.objectOfKind(kind, name) != (object{}) {
		return m.explainOfKind(kind, name)
	}
	namespace, name, two := strings.Cut(args, "/")
	if !two {
		namespace, name = m.defaultNamespace(), args
	}
	return m.open(whyName, object{namespace: namespace, name: name})
}

// namespaceFirst are arguments with the namespace before the name, where -n gives it behind.
func namespaceFirst(args string) string {
	what, namespace, given := strings.Cut(args, " -n ")
	if !given {
		return args
	}
	at := strings.LastIndexAny(what, "/ ") + 1
	kind, name := strings.TrimRight(what[:at], "/"), what[at:]
	return strings.TrimSpace(kind + " " + strings.TrimSpace(namespace) + "/" + name)
}

// explainOfKind explains the object of a kind that a word names.
func (m *Model) explainOfKind(kind, name string) tea.Cmd {
	about := m.objectOfKind(kind, name)
	if about.name == "" {
		return m.say(fmt.Sprintf("no kind %q is known here", kind), true)
	}
	return m.explain(about)
}

// whyNames are the objects that are known, as KIND NAME or by their name alone where that is enough, and the codes.
func whyNames(m *Model) []string { return slices.Concat(m.objectNames(), findingCodes(m)) }

// newNamedTable is the table of objects of one name.
func newNamedTable() *grid.Table[object] {
	text := func(o *object) string { return o.String() }
	return grid.New([]grid.Column[object]{
		textColumn(grid.Column[object]{Title: "KIND", Width: 12, Max: 24}, func(o *object) string { return o.kind.Name }),
		textColumn(grid.Column[object]{Title: "NAMESPACE", Width: 10, Max: 30}, func(o *object) string { return o.namespace }),
		textColumn(grid.Column[object]{Title: "NAME", Width: 12, Max: 60, Ends: true}, func(o *object) string { return o.name }),
	}, text, text, func(*object) bool { return false })
}
