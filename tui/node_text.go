package tui

import (
	"fmt"
	"strings"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/story"
	"koordinator.sh/koord/tui/internal/style"
)

// nodeHead is the number of lines above a node's tab: its two bars, the tabs and a blank.
const nodeHead = 4

// tabsLine is the line of the tabs among them.
const tabsLine = 2

func (m *Model) drawNodeHead(width int) []string {
	var cpu, memory story.Parts
	if n := m.overview(m.page().node); n != nil {
		cpu, memory = story.Of(n.CPU), story.Of(n.Memory)
	}
	return []string{
		m.summaryLine("cpu", cpu, quantity.Cores, " cores", width),
		m.summaryLine("mem", memory, quantity.Bytes, "", width),
		m.drawTabs(),
		"",
	}
}

// overview is the node among the nodes seen last; nil when it is not there.
func (m *Model) overview(name string) *diagnostics.NodeOverview {
	if m.nodes.value == nil {
		return nil
	}
	for i := range m.nodes.value.Items {
		if m.nodes.value.Items[i].Name == name {
			return &m.nodes.value.Items[i]
		}
	}
	return nil
}

func (m *Model) drawTabs() string {
	st, tabs := m.st, make([]string, nodeTabs)
	for i := range tabNames {
		if i == m.page().tab {
			tabs[i] = st.Title.Render("[" + m.tabName(i) + "]")
		} else {
			tabs[i] = st.Dim.Render(" " + m.tabName(i) + " ")
		}
	}
	return " " + strings.Join(tabs, cell.Blank(m.tabGap()))
}

// tabGap is what is between two tabs, beside the cell that each has for its brackets: nothing where a node with many pods makes
// the tabs wider than the terminal.
func (m *Model) tabGap() int {
	width := 1
	for i := range tabNames {
		width += cell.Width(m.tabName(i)) + 2
	}
	if width+nodeTabs-1 > m.width {
		return 0
	}
	return 1
}

func (m *Model) tabName(i int) string {
	if i == podsTab && m.nodePods.known {
		return fmt.Sprintf("%s(%d)", tabNames[i], len(m.nodePods.value.Items))
	}
	return tabNames[i]
}

// tabAt is the tab drawn in a column of the terminal; -1 where there is none.
func (m *Model) tabAt(x int) int {
	from, gap := 1, m.tabGap()
	for i := range tabNames {
		to := from + cell.Width(m.tabName(i)) + 2 + gap
		if x >= from && x < to {
			return i
		}
		from = to
	}
	return -1
}

func (m *Model) drawNodePods(r rect) []string {
	switch {
	case m.nodePodTable.Total() == 0:
		return m.drawEmpty(r, "no pods on "+cell.Clean(m.page().node))
	case m.nodePodTable.Len() == 0:
		return m.drawNoMatch(r, m.nodePodTable)
	}
	return m.nodePodTable.Draw(r.w, r.h, true, m.st)
}

// nodeText is the explanation of a node for the current tab.
func (m *Model) nodeText(width int) []string {
	status := &m.node.value.Status
	var lines []string
	if m.page().tab == settingsTab {
		lines = m.settingsText(status, width)
	} else {
		lines = m.waterfallText(status, tabNames[m.page().tab], width)
	}
	lines = append(lines, m.findingsText(status.Findings, width)...)
	lines = append(lines, m.sentence(printer.Withheld(status.Withheld), width)...)
	return append(lines, "", m.originText(status.Origin))
}

func (m *Model) settingsText(status *diagnostics.NodeExplanationStatus, width int) []string {
	st := m.st
	if len(status.Strategy) == 0 {
		return []string{"  " + st.Dim.Render("the configuration in force is unknown")}
	}
	lines := []string{" " + st.Dim.Render(cell.Left("SETTING", 36, "")+" "+cell.Left("VALUE", 14, "")+" LAYER")}
	for _, s := range status.Strategy {
		line := " " + st.Plain.Render(cell.Left(cell.Clean(s.Key), 36, st.Ellipsis)) + " " +
			st.Bold.Render(cell.Left(cell.Clean(s.Value), 14, st.Ellipsis)) + " " + st.Dim.Render(cell.Clean(s.Layer))
		lines = append(lines, cell.Truncate(line, width, st.Ellipsis))
	}
	return lines
}

// waterfallText is one waterfall: its terms with values, units, sources and ages, and what node.status says.
func (m *Model) waterfallText(status *diagnostics.NodeExplanationStatus, resource string, width int) []string {
	st := m.st
	var w *diagnostics.Waterfall
	for i := range status.Waterfalls {
		if strings.HasSuffix(status.Waterfalls[i].Resource, resource) {
			w = &status.Waterfalls[i]
		}
	}
	if w == nil {
		return m.uncomputedText(status, resource, width)
	}
	c := m.termColumnsFor(w.Terms, width)
	head := "   " + cell.Left("TERM", c.name, "") + cell.Right("VALUE", c.value, "") + c.gap() +
		cell.Left("SOURCE", c.source, "") + cell.Right("AGE", c.age, "")
	lines := []string{"  " + st.Bold.Render(cell.Clean(w.Resource)) + st.Dim.Render(" by policy ") + st.Plain.Render(cell.Clean(w.Policy))}
	if w.Degraded {
		lines = append(lines, "  "+st.Bad.Render(st.Late+" degraded: the inputs cannot be trusted"))
	}
	lines = append(lines, "", st.Dim.Render(head))
	spans, scale := spansOf(w.Terms)
	for i := range w.Terms {
		lines = append(lines, m.termText(&w.Terms[i], spans[i], scale, c)...)
	}
	return append(lines, m.publishedText(status, w.Resource, width)...)
}

// uncomputedText says of a resource without a waterfall what node.status has, and why nothing was computed.
func (m *Model) uncomputedText(status *diagnostics.NodeExplanationStatus, resource string, width int) []string {
	for i := range status.Published {
		if p := &status.Published[i]; strings.HasSuffix(p.Resource, resource) {
			return append([]string{"  " + m.st.Bold.Render(cell.Clean(p.Resource))}, m.publishedText(status, p.Resource, width)...)
		}
	}
	return []string{"  " + m.st.Dim.Render("the answer has nothing on "+resource)}
}

// termColumns are the widths of a waterfall's columns.
type termColumns struct{ name, value, bar, source, age int }

// leastBar is the narrowest bar that still tells something.
const leastBar = 6

// termColumnsFor gives the sources the room they need before the bars, which only draw what the values say.
func (m *Model) termColumnsFor(terms []diagnostics.Term, width int) termColumns {
	c := termColumns{name: 17, value: 12, age: 5}
	left := max(width-c.name-c.value-c.age-8, 0)
	source := len("SOURCE")
	for i := range terms {
		source = max(source, cell.Width(sourceOf(terms[i].Source, m.page().node)))
	}
	c.source = min(source+1, left, 64)
	c.bar = min(left-c.source, 60)
	if c.bar < leastBar {
		c.source, c.bar = min(source+1, left+2), 0
	}
	return c
}

// gap is what stands between the values and the sources: the bar, where there is one.
func (c termColumns) gap() string {
	if c.bar == 0 {
		return "  "
	}
	return "  " + cell.Blank(c.bar) + "  "
}

func (m *Model) termText(t *diagnostics.Term, s span, scale int64, c termColumns) []string {
	st, text := m.st, m.st.Plain
	if t.Operator == diagnostics.Result {
		text = st.Bold
	}
	line := " " + st.Accent.Render(operatorMark(t.Operator, st)) + " " + text.Render(cell.Left(words(t.Name), c.name, st.Ellipsis)) +
		text.Render(cell.Right(valueOf(t.Value, t.Unit), c.value, st.Ellipsis))
	if t.Operator == diagnostics.Info || c.bar == 0 {
		line += c.gap()
	} else {
		line += "  " + spanBar(s, scale, c.bar, t.Operator, st) + "  "
	}
	line += st.Dim.Render(cell.Left(sourceOf(t.Source, m.page().node), c.source, st.Ellipsis)) +
		st.Dim.Render(cell.Right(ageOf(t.ObservedAt, m.clock.Now()), c.age, ""))
	lines := []string{line}
	if t.Note != "" {
		lines = append(lines, "     "+st.Faint.Render(cell.Clean(t.Note)))
	}
	if m.page().unfolded {
		lines = append(lines, m.partsText(t, c)...)
	}
	return lines
}

func (m *Model) partsText(t *diagnostics.Term, c termColumns) []string {
	st := m.st
	var lines []string
	for _, p := range t.Parts {
		where := cell.Clean(p.Name)
		if p.Source != nil {
			where = sourceOf(p.Source, "")
		}
		lines = append(lines, "     "+st.Dim.Render(cell.Right(valueOf(p.Value, p.Unit), c.name+c.value-2, "")+"  "+where))
	}
	if t.PartsOmitted > 0 {
		lines = append(lines, "     "+st.Faint.Render(cell.Right(fmt.Sprintf("and %d more", t.PartsOmitted), c.name+c.value-2, "")))
	}
	return lines
}

// publishedText compares node.status with the waterfall.
func (m *Model) publishedText(status *diagnostics.NodeExplanationStatus, resource string, width int) []string {
	st := m.st
	for _, p := range status.Published {
		if p.Resource != resource {
			continue
		}
		published := "nothing"
		if p.Published != nil {
			published = valueOf(*p.Published, p.Unit)
		}
		glyph, text := syncMark(p.State, st)
		computed := quantity.None
		if p.Computed != nil {
			computed = valueOf(*p.Computed, p.Unit)
		}
		lines := []string{"", "   " + st.Dim.Render("node.status ") + st.Bold.Render(published) + st.Dim.Render("  computed ") +
			st.Bold.Render(computed) + "  " + text.Render(glyph+" "+words(string(p.State)))}
		for _, line := range cell.Wrap(p.Reason, min(width-6, 100)) {
			lines = append(lines, "   "+st.Dim.Render(line))
		}
		return lines
	}
	return nil
}

func syncMark(s diagnostics.SyncState, st *style.Set) (string, style.Style) {
	switch s {
	case diagnostics.InSync:
		return st.Check, st.OK
	case diagnostics.WithinThreshold:
		return st.Good, st.OK
	case diagnostics.Pending:
		return st.Half, st.Warn
	case diagnostics.SyncUnknown:
		return st.Unknown, st.Warn
	}
	return st.Cross, st.Bad
}

// findingsText lists findings with their codes and hints.
func (m *Model) findingsText(findings []diagnostics.Finding, width int) []string {
	st := m.st
	var lines []string
	for _, f := range findings {
		text, glyph := st.Dim, st.Dot
		switch f.Severity {
		case diagnostics.SeverityError:
			text, glyph = st.Bad, st.Cross
		case diagnostics.SeverityWarning:
			text, glyph = st.Warn, st.Hot
		}
		lines = append(lines, "")
		for i, line := range cell.Wrap(string(f.Severity)+": "+f.Message, max(width-6, 10)) {
			mark := "  "
			if i == 0 {
				mark = glyph + " "
			}
			lines = append(lines, " "+text.Render(mark+line))
		}
		if f.Hint != "" {
			for _, line := range cell.Wrap("hint: "+m.called(f.Hint), max(width-6, 10)) {
				lines = append(lines, "   "+st.Plain.Render(line))
			}
		}
		lines = append(lines, "   "+st.Dim.Render(cell.Clean(f.Code)))
	}
	return lines
}

func (m *Model) originText(o diagnostics.Origin) string {
	who := cell.Clean(o.Component)
	if o.Instance != "" && o.Instance != o.Component {
		who += " " + cell.Clean(o.Instance)
	}
	if o.Leader {
		who += " (leader)"
	}
	if who == "" {
		return ""
	}
	text := "  answered by " + who
	if o.DurationMicroseconds > 0 {
		text += fmt.Sprintf(" in %.1f ms", float64(o.DurationMicroseconds)/1000)
	}
	return m.st.Faint.Render(text)
}
