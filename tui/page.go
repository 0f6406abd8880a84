package tui

import (
	tea "charm.land/bubbletea/v2"
)

// screenKind is one view of the workbench.
type screenKind int

const (
	nodesScreen screenKind = iota
	podsScreen
	chartScreen
	nodeScreen
	podScreen
	describeScreen
	yamlScreen
	helpScreen
)

// page is one entry of the stack that esc goes back through.
type page struct {
	kind screenKind
	// node of a node screen, of a chart that is not the cluster's, or described.
	node string
	// namespace and pod of a pod screen, or described.
	namespace, pod string
	// tab of a node screen.
	tab int
	// unfolded shows the parts of a waterfall's terms.
	unfolded bool
	// scroll is the first line seen of a text.
	scroll int
}

func (s page) crumb() string {
	switch s.kind {
	case podsScreen:
		return "pods"
	case chartScreen:
		return "chart"
	case nodeScreen:
		return s.node
	case podScreen:
		return s.namespace + "/" + s.pod
	case describeScreen:
		return "describe " + s.object()
	case yamlScreen:
		return "yaml " + s.object()
	case helpScreen:
		return "help"
	default:
		return "nodes"
	}
}

// object is what a screen of one node or pod is about.
func (s page) object() string {
	if s.node != "" {
		return "node " + s.node
	}
	return "pod " + s.namespace + "/" + s.pod
}

// same reports whether both show the same thing, whatever is scrolled or unfolded.
func (s page) same(o page) bool {
	return s.kind == o.kind && s.node == o.node && s.namespace == o.namespace && s.pod == o.pod
}

const maxPages = 32

// page is the one on top of the stack.
func (m *Model) page() *page { return &m.pages[len(m.pages)-1] }

// open puts a screen on the stack and asks for what it shows. Opening the screen that is on top changes nothing.
func (m *Model) open(s page) tea.Cmd {
	if !m.page().same(s) {
		m.pages = append(m.pages, s)
		if len(m.pages) > maxPages {
			m.pages = append(m.pages[:1:1], m.pages[2:]...)
		}
	}
	return m.poll()
}

// back clears the filter first, then returns to the screen before.
func (m *Model) back() tea.Cmd {
	if t := m.table(); t != nil && t.Filter() != "" {
		_ = t.SetFilter("") // an empty filter always parses
		return nil
	}
	return m.pop()
}

func (m *Model) pop() tea.Cmd {
	if len(m.pages) > 1 {
		m.pages = m.pages[:len(m.pages)-1]
		return m.poll()
	}
	return nil
}

// quit goes back, or ends the workbench from the first screen.
func (m *Model) quit() tea.Cmd {
	if len(m.pages) > 1 {
		return m.pop()
	}
	return tea.Quit
}

// table is the table of the current screen; nil where there is none.
func (m *Model) table() table { return m.tableOf(m.page()) }

func (m *Model) tableOf(s *page) table {
	switch s.kind {
	case nodesScreen:
		return m.nodeTable
	case podsScreen:
		return m.podTable
	case nodeScreen:
		if s.tab == podsTab {
			return m.nodePodTable
		}
	}
	return nil
}

// table is what tables of any row have in common.
type table interface {
	Move(delta int)
	Page() int
	Len() int
	Total() int
	Filter() string
	SetFilter(expr string) error
	Selector() string
	Admit(keys map[string]bool)
	Problems() bool
	ToggleProblems()
	Wide() bool
	ToggleWide()
	SortBy(title string, largestFirst bool)
	Choose(delta int)
	SortByChosen()
	At(line int) bool
	Cursor() int
	SetSize(width, rows int)
}
