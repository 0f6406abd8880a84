package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/source"
)

// subject is a kind of object that a screen explains. The describe and yaml screens, and the commands that take any object,
// know kinds by their subjects alone.
type subject struct {
	kind       source.Kind
	namespaced bool
	// names are the known names for completion, NAMESPACE/NAME where there are namespaces.
	names func() []string
	// describe asks for a description of the object.
	describe func(ctx context.Context, src source.Source, about object) (detail, error)
	// explanation asks for what explain -o yaml prints.
	explanation func(ctx context.Context, src source.Source, about object) (explanation any, incomplete []string, err error)
}

// explainerOf is the screen that explains objects of a kind; nil where there is none.
func (m *Model) explainerOf(kind source.Kind) *screen {
	at := slices.IndexFunc(m.screens, func(s *screen) bool { return s.subject != nil && s.subject.kind == kind })
	if at < 0 {
		return nil
	}
	return m.screens[at]
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

// selected is the object under the cursor of a table, or what a page without a table is about.
func (m *Model) selected() (object, bool) {
	p := m.page()
	if t := p.content().table; t != nil {
		return t.selected()
	}
	return p.about, p.about != object{}
}

// objectNamed is what an argument of a command names: NAMESPACE/NAME is of a kind with namespaces, NAME of one without.
func (m *Model) objectNamed(arg string) object {
	namespace, name, namespaced := strings.Cut(arg, "/")
	if !namespaced {
		namespace, name = "", arg
	}
	for _, s := range m.screens {
		if s.subject != nil && s.subject.namespaced == namespaced {
			return object{kind: s.subject.kind, namespace: namespace, name: name}
		}
	}
	return object{}
}

// objectNames are the names of all kinds that are known.
func (m *Model) objectNames() []string {
	var out []string
	for _, s := range m.screens {
		if s.subject != nil {
			out = append(out, s.subject.names()...)
		}
	}
	return out
}
