package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/source"
)

// namespaceNames and podNames are names for completion.
type (
	namespaceNames []string
	podNames       []string
)

const maxNames = 2000

// askNames asks for the names that the typed command can be completed with, once for a namespace, and again after an error.
func (m *Model) askNames(line string) tea.Cmd {
	src := m.source
	var cmds []tea.Cmd
	if !m.spaceNames.known {
		cmds = append(cmds, ask(m, &m.spaceNames, "namespaces", func(ctx context.Context) (namespaceNames, error) {
			return src.Names(ctx, source.KindNamespace, "", maxNames)
		}))
	}
	_, arg, _ := strings.Cut(line, " ")
	namespace, _, ok := strings.Cut(arg, "/")
	if ok && namespace != "" && (m.podsOf.question != namespace || m.podsOf.err != nil) {
		cmds = append(cmds, ask(m, &m.podsOf, namespace, func(ctx context.Context) (podNames, error) {
			return src.Names(ctx, source.KindPod, namespace, maxNames)
		}))
	}
	return tea.Batch(cmds...)
}

func (m *Model) nodeNames() []string {
	if m.nodes.value == nil {
		return nil
	}
	out := make([]string, len(m.nodes.value.Items))
	for i := range m.nodes.value.Items {
		out[i] = m.nodes.value.Items[i].Name
	}
	return out
}

// podNames are the pods that were seen last, whichever page listed them, and the namespaces that have others.
func (m *Model) podNames() []string {
	var out []string
	for _, name := range m.podsOf.value {
		out = append(out, m.podsOf.question+"/"+name)
	}
	for _, l := range m.podLists {
		if l.value == nil {
			continue
		}
		for i := range l.value.Items {
			out = append(out, l.value.Items[i].Namespace+"/"+l.value.Items[i].Name)
		}
	}
	for _, namespace := range m.spaceNames.value {
		out = append(out, namespace+"/")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (m *Model) namespaces() []string {
	out := append([]string{allNamespaces}, m.spaceNames.value...)
	for _, l := range m.podLists {
		if l.value == nil {
			continue
		}
		for i := range l.value.Items {
			out = append(out, l.value.Items[i].Namespace)
		}
	}
	slices.Sort(out[1:])
	return slices.Compact(out)
}

// defaultNamespace is that of a pod named without one.
func (m *Model) defaultNamespace() string {
	switch {
	case m.namespace != "":
		return m.namespace
	case m.cluster.value.Namespace != "":
		return m.cluster.value.Namespace
	}
	return "default"
}
