package tui

import (
	"fmt"
	"slices"
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

func (n *node) drawHead(width int) []string {
	var cpu, memory story.Parts
	if seen := n.overview(n.page().about.name); seen != nil {
		cpu, memory = story.Of(seen.CPU), story.Of(seen.Memory)
	}
	return []string{
		n.summaryLine("cpu", cpu, quantity.Cores, " cores", width),
		n.summaryLine("mem", memory, quantity.Bytes, "", width),
		n.drawTabs(n.tabNames()),
		"",
	}
}

// tabNames are the tabs, that of the pods with their number.
func (n *node) tabNames() []string {
	names := slices.Clone(tabNames[:])
	if n.pods.known {
		names[podsTab] = fmt.Sprintf("%s(%d)", names[podsTab], len(n.pods.value.Items))
	}
	return names
}

// nodeText is the explanation of a node for the current tab.
func (n *node) nodeText(width int) []string {
	status := &n.explanation.value.Status
	var lines []string
	if n.page().tab == settingsTab {
		lines = n.settingsText(status, width)
	} else {
		lines = n.waterfallText(status, tabNames[n.page().tab], width)
	}
	lines = append(lines, n.findingsText(status.Findings, width)...)
	lines = append(lines, n.sentence(printer.Withheld(status.Withheld), width)...)
	return append(lines, "", n.originText(status.Origin))
}

func (n *node) settingsText(status *diagnostics.NodeExplanationStatus, width int) []string {
	st := n.st
	if len(status.Strategy) == 0 {
		return []string{"  " + st.Dim.Render(st.Say("the configuration in effect is unknown"))}
	}
	lines := []string{" " + st.Dim.Render(cell.Left(st.Say("SETTING"), 36, "")+" "+cell.Left(st.Say("VALUE"), 14, "")+" "+st.Say("LAYER"))}
	for _, s := range status.Strategy {
		line := " " + st.Plain.Render(cell.Left(cell.Clean(s.Key), 36, st.Ellipsis)) + " " +
			st.Bold.Render(cell.Left(cell.Clean(s.Value), 14, st.Ellipsis)) + " " + st.Dim.Render(cell.Clean(s.Layer))
		lines = append(lines, cell.Truncate(line, width, st.Ellipsis))
	}
	return lines
}

// waterfallText is one waterfall: its terms with values, units, sources and ages, and what node.status says.
func (n *node) waterfallText(status *diagnostics.NodeExplanationStatus, resource string, width int) []string {
	st := n.st
	var w *diagnostics.Waterfall
	for i := range status.Waterfalls {
		if strings.HasSuffix(status.Waterfalls[i].Resource, resource) {
			w = &status.Waterfalls[i]
		}
	}
	if w == nil {
		return n.uncomputedText(status, resource, width)
	}
	c := n.termColumnsFor(w.Terms, width)
	head := "   " + cell.Left(st.Say("TERM"), c.name, "") + cell.Right(st.Say("VALUE"), c.value, "") + c.gap() +
		cell.Left(st.Say("SOURCE"), c.source, "") + cell.Right(st.Say("AGE"), c.age, "")
	lines := []string{"  " + st.Bold.Render(cell.Clean(w.Resource)) + st.Dim.Render(st.Say(" by policy ")) + st.Plain.Render(cell.Clean(w.Policy))}
	if w.Degraded {
		lines = append(lines, "  "+st.Bad.Render(st.Late+" "+st.Say("degraded: the input data is missing or too old")))
	}
	lines = append(lines, "", st.Dim.Render(head))
	spans, scale := spansOf(w.Terms)
	for i := range w.Terms {
		lines = append(lines, n.termText(&w.Terms[i], spans[i], scale, c)...)
	}
	return append(lines, n.publishedText(status, w.Resource, width)...)
}

// uncomputedText says of a resource without a waterfall what node.status has, and why nothing was computed.
func (n *node) uncomputedText(status *diagnostics.NodeExplanationStatus, resource string, width int) []string {
	for i := range status.Published {
		if p := &status.Published[i]; strings.HasSuffix(p.Resource, resource) {
			return append([]string{"  " + n.st.Bold.Render(cell.Clean(p.Resource))}, n.publishedText(status, p.Resource, width)...)
		}
	}
	return []string{"  " + n.st.Dim.Render(n.st.Say("no data for "+resource))}
}

// termColumns are the widths of a waterfall's columns.
type termColumns struct{ name, value, bar, source, age int }

// leastBar is the width below which a bar is left out.
const leastBar = 6

// termColumnsFor gives the sources the room they need before the bars, which only draw what the values say.
func (n *node) termColumnsFor(terms []diagnostics.Term, width int) termColumns {
	c := termColumns{name: 17, value: 12, age: 5}
	left := max(width-c.name-c.value-c.age-8, 0)
	source := len("SOURCE")
	for i := range terms {
		source = max(source, cell.Width(sourceOf(terms[i].Source, n.page().about.name)))
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

func (n *node) termText(t *diagnostics.Term, s span, scale int64, c termColumns) []string {
	st, text := n.st, n.st.Plain
	if t.Operator == diagnostics.Result {
		text = st.Bold
	}
	line := " " + st.Accent.Render(operatorMark(t.Operator, st)) + " " + text.Render(cell.Left(st.Say(words(t.Name)), c.name, st.Ellipsis)) +
		text.Render(cell.Right(st.Say(valueOf(t.Value, t.Unit)), c.value, st.Ellipsis))
	if t.Operator == diagnostics.Info || c.bar == 0 {
		line += c.gap()
	} else {
		line += "  " + spanBar(s, scale, c.bar, t.Operator, st) + "  "
	}
	line += st.Dim.Render(cell.Left(sourceOf(t.Source, n.page().about.name), c.source, st.Ellipsis)) +
		st.Dim.Render(cell.Right(ageOf(t.ObservedAt, n.clock.Now()), c.age, ""))
	lines := []string{line}
	if t.Note != "" {
		lines = append(lines, "     "+st.Faint.Render(cell.Clean(st.Say(t.Note))))
	}
	if n.page().unfolded {
		lines = append(lines, n.partsText(t, c)...)
	}
	return lines
}

func (n *node) partsText(t *diagnostics.Term, c termColumns) []string {
	st := n.st
	var lines []string
	for _, p := range t.Parts {
		where := cell.Clean(p.Name)
		if p.Source != nil {
			where = sourceOf(p.Source, "")
		}
		lines = append(lines, "     "+st.Dim.Render(cell.Right(valueOf(p.Value, p.Unit), c.name+c.value-2, "")+"  "+where))
	}
	if t.PartsOmitted > 0 {
		lines = append(lines, "     "+st.Faint.Render(cell.Right(st.Say(fmt.Sprintf("and %d more", t.PartsOmitted)), c.name+c.value-2, "")))
	}
	return lines
}

// publishedText compares node.status with the waterfall.
func (n *node) publishedText(status *diagnostics.NodeExplanationStatus, resource string, width int) []string {
	st := n.st
	for _, p := range status.Published {
		if p.Resource != resource {
			continue
		}
		published := "<none>"
		if p.Published != nil {
			published = st.Say(valueOf(*p.Published, p.Unit))
		}
		glyph, text := syncMark(p.State, st)
		computed := quantity.None
		if p.Computed != nil {
			computed = st.Say(valueOf(*p.Computed, p.Unit))
		}
		lines := []string{"", "   " + st.Dim.Render(st.Say("node.status ")) + st.Bold.Render(published) + st.Dim.Render(st.Say("  computed ")) +
			st.Bold.Render(computed) + "  " + text.Render(glyph+" "+words(string(p.State)))}
		for _, line := range st.Wrap(st.Say(p.Reason), min(width-6, 100)) {
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
