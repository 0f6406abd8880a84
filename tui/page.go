package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/source"
)

// object names what a page is about. The zero object is the whole cluster.
type object struct {
	kind            source.Kind
	namespace, name string
	// replicas that a workload would have; 0 for other objects.
	replicas int32
}

func nodeObject(name string) object { return object{kind: source.KindNode, name: name} }

func podObject(namespace, name string) object {
	return object{kind: source.KindPod, namespace: namespace, name: name}
}

// key is the name, after its namespace where there is one.
func (o object) key() string {
	if o.namespace == "" {
		return o.name
	}
	return o.namespace + "/" + o.name
}

func (o object) String() string { return o.kind.Name + " " + o.key() }

// page is one entry of the stack that esc goes back through: a screen and the object it is about.
type page struct {
	screen *screen
	about  object
	// tab of a screen with tabs.
	tab int
	// unfolded shows the parts of what a text sums up.
	unfolded bool
	// scroll is the first line seen of a text.
	scroll int
	// link is the filter that the page was opened with, and before the one that its table had; nil for a page that was opened without.
	link *link
	// asked is true once a page of a screen that asks once did, until another page of the screen, which has the same feed, asks.
	asked bool
}

// link is a filter that leads to some rows of a table, which pages share.
type link struct{ filter, before string }

func (p *page) crumb() string {
	if p.screen.crumb != nil {
		return p.screen.crumb(p)
	}
	return p.screen.name
}

func (p *page) title() string {
	if p.screen.title != nil {
		return p.screen.title(p)
	}
	return p.screen.name
}

func (p *page) content() content {
	if p.screen.content == nil {
		return content{}
	}
	return p.screen.content(p)
}

const maxPages = 32

// page is the one on top of the stack.
func (m *Model) page() *page { return &m.pages[len(m.pages)-1] }

// open puts a page of a screen on the stack and asks for what it shows. Where that page is already on top nothing changes.
func (m *Model) open(name string, about object) tea.Cmd { return m.openTab(name, about, 0) }

func (m *Model) openTab(name string, about object, tab int) tea.Cmd {
	s := m.screenOf(name)
	if s == nil {
		return m.say(fmt.Sprintf("no screen %q", name), true)
	}
	if top := m.page(); top.screen != s || top.about != about {
		m.pages = append(m.pages, page{screen: s, about: about, tab: tab})
		if len(m.pages) > maxPages {
			m.pages = append(m.pages[:1:1], m.pages[2:]...)
		}
	}
	return m.poll()
}

// openRows opens a page of a list with a filter, for as long as the page is there.
func (m *Model) openRows(name, filter string) tea.Cmd {
	cmd := m.open(name, object{})
	t := m.table()
	if t == nil {
		return cmd
	}
	m.page().link = &link{filter: filter, before: t.Filter()}
	return tea.Batch(cmd, m.filter(t, filter))
}

// back clears the filter first, but for the one that the page was opened with, then returns to the page before.
func (m *Model) back() tea.Cmd {
	p := m.page()
	if t := m.table(); t != nil && t.Filter() != "" && (p.link == nil || t.Filter() != p.link.filter) {
		_ = t.SetFilter("") // an empty filter always parses
		return nil
	}
	return m.pop()
}

func (m *Model) pop() tea.Cmd {
	if len(m.pages) > 1 {
		m.leave()
		return m.poll()
	}
	return nil
}

// leave takes a page off the stack, and asks nothing.
func (m *Model) leave() {
	if p := m.page(); p.link != nil {
		_ = m.table().SetFilter(p.link.before) // it parsed before
	}
	m.pages = m.pages[:len(m.pages)-1]
}

// quit goes back, or ends the workbench from the first page.
func (m *Model) quit() tea.Cmd {
	if len(m.pages) > 1 {
		return m.pop()
	}
	return tea.Quit
}

// table is the table of the current page; nil where there is none.
func (m *Model) table() *rows { return m.page().content().table }
