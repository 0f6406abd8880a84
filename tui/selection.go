package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/source"
)

// admitted are the keys of the rows that a label selector selects. The overviews do not carry labels, so the cluster is
// asked, again with every refresh.
type admitted map[string]bool

// selection is the label selector of one table at a time: that of the current screen.
type selection struct {
	feed[admitted]
	table table
}

// filter puts a filter on a table. One that does not parse is told to the user and changes nothing.
func (m *Model) filter(t table, expr string) tea.Cmd {
	if err := t.SetFilter(expr); err != nil {
		return m.say(err.Error(), true)
	}
	if t.Selector() == "" {
		return nil
	}
	return m.askSelection(t)
}

// askSelection asks which rows of the current screen's table its label selector selects.
func (m *Model) askSelection(t table) tea.Cmd {
	src, selector, s := m.source, t.Selector(), *m.page()
	question, fetch := "nodes "+selector, func(ctx context.Context) (admitted, error) { return nodesWith(ctx, src, selector) }
	if s.kind != nodesScreen {
		query := source.PodQuery{Namespace: m.namespace, LabelSelector: selector}
		if s.kind == nodeScreen {
			query = source.PodQuery{NodeName: s.node, LabelSelector: selector}
		}
		question = "pods " + query.Namespace + "/" + query.NodeName + " " + selector
		fetch = func(ctx context.Context) (admitted, error) { return podsWith(ctx, src, query) }
	}
	if m.selection.known && m.selection.question == question {
		t.Admit(m.selection.value)
	} else {
		t.Admit(nil)
	}
	m.selection.table = t
	return ask(m, &m.selection.feed, question, fetch)
}

func nodesWith(ctx context.Context, src source.Source, selector string) (admitted, error) {
	list, err := src.Nodes(ctx, source.NodeQuery{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	keys := make(admitted, len(list.Items))
	for i := range list.Items {
		keys[list.Items[i].Name] = true
	}
	return keys, nil
}

func podsWith(ctx context.Context, src source.Source, query source.PodQuery) (admitted, error) {
	list, err := src.Pods(ctx, query)
	if err != nil {
		return nil, err
	}
	keys := make(admitted, len(list.Items))
	for i := range list.Items {
		keys[podKey(&podRow{&list.Items[i]})] = true
	}
	return keys, nil
}

// learnAdmitted tells the table that asked. A table that has cleared its filter since then does not mind.
func (m *Model) learnAdmitted(msg answer[admitted]) {
	if m.selection.accept(msg) && msg.err == nil {
		m.selection.table.Admit(msg.value)
	}
}
