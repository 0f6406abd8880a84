package tui

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/history"
	"koordinator.sh/koord/tui/internal/story"
	"koordinator.sh/koord/tui/internal/style"
)

// Update takes one message. It does no input or output: what has to be asked is asked by the command it returns.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.handle(msg)
	m.settle()
	return m, cmd
}

func (m *Model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 0), max(msg.Height, 0)
	case tea.BackgroundColorMsg:
		m.restyle(func(a *style.Appearance) { a.Light = !msg.IsDark() })
	case tea.ColorProfileMsg:
		m.restyle(func(a *style.Appearance) { a.Profile = better(a.Profile, msg.Profile) })
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		return m.paste(msg)
	case tea.MouseClickMsg:
		return m.click(msg)
	case tea.MouseWheelMsg:
		return m.wheel(msg)
	case refreshMsg:
		return tea.Batch(m.poll(), m.after(m.interval, refreshMsg{}))
	case flashMsg:
		if msg.number == m.flash.number {
			m.flash.text = ""
		}
	default:
		m.learn(msg)
		return m.followRights()
	}
	return nil
}

// better lets the terminal raise the number of colours, never add colours where they are switched off.
func better(have, got colorprofile.Profile) colorprofile.Profile {
	if have <= colorprofile.ASCII {
		return have
	}
	return max(have, got)
}

func (m *Model) restyle(change func(*style.Appearance)) {
	a := m.st.Appearance
	change(&a)
	if a != m.st.Appearance {
		m.st = style.New(a)
	}
}

// learn takes answers. One that no question waits for any more is dropped.
func (m *Model) learn(msg tea.Msg) {
	switch msg := msg.(type) {
	case answer[source.Cluster]:
		m.learnCluster(msg)
	case answer[*diagnostics.NodeOverviewList]:
		if m.nodes.accept(msg) && msg.err == nil {
			m.learnNodes(msg)
		}
	case answer[*diagnostics.PodOverviewList]:
		if m.pods.accept(msg) && msg.err == nil {
			m.podTable.SetRows(podRows(msg.value))
		}
		if m.nodePods.accept(msg) && msg.err == nil {
			m.nodePodTable.SetRows(podRows(msg.value))
		}
	case answer[*diagnostics.NodeExplanation]:
		if !m.node.accept(msg) {
			m.agent.accept(msg)
		}
	case answer[*diagnostics.PodExplanation]:
		m.pod.accept(msg)
	case answer[past]:
		m.past.accept(msg)
	case answer[detail]:
		m.detail.accept(msg)
	case answer[admitted]:
		m.learnAdmitted(msg)
	case answer[namespaceNames]:
		m.spaceNames.accept(msg)
	case answer[podNames]:
		m.podsOf.accept(msg)
	}
}

// learnCluster keeps the parts that need no connection also when there is an error.
func (m *Model) learnCluster(msg answer[source.Cluster]) {
	if m.cluster.accept(msg) && msg.err != nil {
		m.cluster.value = msg.value
	}
}

func (m *Model) learnNodes(msg answer[*diagnostics.NodeOverviewList]) {
	rows := nodeRows(msg.value)
	sample := history.Sample{At: msg.at, Nodes: make(map[string][2]story.Parts, len(rows))}
	for i := range rows {
		sample.Nodes[rows[i].Name] = [2]story.Parts{rows[i].cpu, rows[i].memory}
	}
	m.summary = summaryOf(rows)
	sample.Cluster = [2]story.Parts{m.summary.cpu, m.summary.memory}
	m.history.Append(sample)
	m.nodeTable.SetRows(rows)
}

// settle tells the tables how many rows are seen and keeps texts from being scrolled past their end.
func (m *Model) settle() {
	f := m.frame()
	if t := m.table(); t != nil {
		t.SetSize(f.body.w, f.body.h-1-m.tableTop(f))
	}
	s := m.page()
	if s.scroll > 0 {
		lines, room := m.text(f)
		s.scroll = max(min(s.scroll, len(lines)-room), 0)
	}
}
