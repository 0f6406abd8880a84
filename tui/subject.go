package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/source"
)

// subject is a kind of object that a screen explains. The describe and yaml screens, and the commands that take any object,
// know kinds by their subjects alone.
type subject struct {
	kind source.Kind
	// names are the known names for completion, NAMESPACE/NAME where there are namespaces.
	names func() []string
	// describe asks for a description of the object.
	describe func(ctx context.Context, src source.Source, about object) (detail, error)
	// explanation asks for what explain -o yaml prints.
	explanation func(ctx context.Context, src source.Source, about object) (explanation any, incomplete []string, err error)
}

// unqualified reports whether commands that take any object need no kind before its name.
func (s *subject) unqualified() bool { return s.kind == source.KindNode || s.kind == source.KindPod }

// explainerOf is the screen that explains objects of a kind; nil where there is none.
func (m *Model) explainerOf(kind source.Kind) *screen {
	at := slices.IndexFunc(m.screens, func(s *screen) bool { return s.subject != nil && s.subject.kind == kind })
	if at < 0 {
		return nil
	}
	return m.screens[at]
}

// offered is what a source answers beyond what all sources do; an error says that it cannot.
func offered[T any](src source.Source, what string) (T, error) {
	offer, ok := src.(T)
	if !ok {
		return offer, fmt.Errorf("%s: not available from this source", what)
	}
	return offer, nil
}

// explain opens the screen that explains an object.
func (m *Model) explain(about object) tea.Cmd {
	s := m.explainerOf(about.kind)
	if s == nil {
		return nil
	}
	return m.open(s.name, about)
}

// explainSelected explains what is under the cursor.
func (m *Model) explainSelected() tea.Cmd {
	if about, ok := m.selected(); ok {
		return m.explain(about)
	}
	return nil
}

// selected is the object under the cursor of a table, or what a page without a table is about. A page can also be about an object of a kind
// that no screen explains.
func (m *Model) selected() (object, bool) {
	p := m.page()
	if t := p.content().table; t != nil {
		return t.selected()
	}
	return p.about, m.explainerOf(p.about.kind) != nil
}

// objectNamed is what an argument of a command names: KIND NAME, or NAMESPACE/NAME, which is of the first kind with namespaces, or NAME, of
// the first one without.
func (m *Model) objectNamed(arg string) object {
	if kind, name, two := strings.Cut(arg, " "); two {
		return m.objectOfKind(kind, strings.TrimSpace(name))
	}
	namespace, name, namespaced := strings.Cut(arg, "/")
	if !namespaced {
		namespace, name = "", arg
	}
	for _, s := range m.screens {
		if s.subject != nil && s.subject.kind.Namespaced == namespaced {
			return object{kind: s.subject.kind, namespace: namespace, name: name}
		}
	}
	return object{}
}

// objectOfKind is the object of a kind that a word names, as kubectl does; the zero object when no screen explains that kind.
func (m *Model) objectOfKind(word, arg string) object {
	for _, s := range m.screens {
		if s.subject != nil && slices.Contains(s.subject.kind.Words(), word) {
			return m.objectCalled(s.subject.kind, arg)
		}
	}
	for _, kind := range source.ExplainedWorkloads {
		if slices.Contains(kind.Words(), word) {
			return m.objectCalled(kind, arg).shown()
		}
	}
	return object{}
}

// objectCalled is the object of a kind that an argument names: NAME, or NAMESPACE/NAME where there are namespaces. Without a namespace it is
// in that of the context, as for kubectl.
func (m *Model) objectCalled(kind source.Kind, arg string) object {
	if !kind.Namespaced {
		return object{kind: kind, name: arg}
	}
	namespace, name, ok := strings.Cut(arg, "/")
	if !ok {
		namespace, name = m.defaultNamespace(), arg
	}
	return object{kind: kind, namespace: namespace, name: name}
}

// objectNames are the names of all kinds that are known.
func (m *Model) objectNames() []string {
	var out []string
	for _, s := range m.screens {
		if s.subject != nil {
			for _, name := range s.subject.names() {
				if !s.subject.unqualified() {
					name = s.subject.kind.Name + " " + name
				}
				out = append(out, name)
			}
		}
	}
	return out
}
