package tui

import (
	"fmt"
	"strings"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// refusalColumns are where the parts of a refusal are. A terminal without room for both keeps it for the reason, and the plugin
// stands in the note below.
type refusalColumns struct{ width, plugin, reason int }

const (
	refusalCounts = 3 + 6 + 1 + 6 + 2
	pluginWidth   = 22
	// reasonWidth is the room that a reason has before the plugin gets a column.
	reasonWidth = 64
)

func refusalColumnsFor(width int) refusalColumns {
	if width >= refusalCounts+pluginWidth+1+reasonWidth {
		return refusalColumns{width: width, plugin: pluginWidth, reason: refusalCounts + pluginWidth + 1}
	}
	return refusalColumns{width: width, reason: refusalCounts}
}

// wrap breaks a reason into lines.
func (c refusalColumns) wrap(text string, st *style.Set) []string {
	return st.Wrap(text, max(c.width-c.reason-1, 20))
}

// groupsText lists the refusals, each with the nodes closest to passing.
func (d *pod) groupsText(status *diagnostics.PodExplanationStatus, width int) []string {
	st := d.st
	if len(status.Groups) == 0 {
		return nil
	}
	return append([]string{"", "  " + st.Title.Render(st.Say(nodesText(status))), ""}, d.refusalsText(status.Groups, width)...)
}

// refusalsText lists reasons for which nodes refuse a pod.
func (m *Model) refusalsText(groups []diagnostics.RefusalGroup, width int) []string {
	st, columns := m.st, refusalColumnsFor(width)
	head := "   " + cell.Right(st.Say("NODES"), 6, "") + " " + cell.Right(st.Say("SOLE"), 6, "") + "  "
	if columns.plugin > 0 {
		head += cell.Left(st.Say("PLUGIN"), columns.plugin, "") + " "
	}
	lines := []string{st.Dim.Render(head + st.Say("REASON"))}
	for i := range groups {
		lines = append(lines, m.groupText(&groups[i], columns)...)
	}
	return lines
}

func (m *Model) groupText(g *diagnostics.RefusalGroup, columns refusalColumns) []string {
	st := m.st
	lead := "   " + st.Bold.Render(cell.Right(quantity.Count(int64(g.Count)), 6, "")) + " " +
		st.Plain.Render(cell.Right(quantity.Count(int64(g.Sole)), 6, "")) + "  "
	note := g.Code + " " + st.Say(g.Class)
	if columns.plugin > 0 {
		lead += st.Accent.Render(cell.Left(cell.Clean(g.Plugin), columns.plugin, st.Ellipsis)) + " "
	} else {
		note = g.Plugin + " " + note
	}
	if g.PreemptionMayHelp {
		note += ", " + st.Say("preemption may help")
	}
	var lines []string
	for _, line := range columns.wrap(st.Say(g.Message), st) {
		lines = append(lines, lead+st.Plain.Render(line))
		lead = cell.Blank(columns.reason)
	}
	for _, line := range columns.wrap(note+": "+st.Say(g.Reason), st) {
		lines = append(lines, cell.Blank(columns.reason)+st.Faint.Render(line))
	}
	if m.page().unfolded {
		for i := range g.Nodes {
			lines = append(lines, m.refusalText(&g.Nodes[i], columns)...)
		}
		if more := int(g.Count) - len(g.Nodes); more > 0 && len(g.Nodes) > 0 {
			lines = append(lines, cell.Blank(columns.reason)+st.Faint.Render(st.Say("and "+plural(more, "more node"))))
		}
	}
	return lines
}

// refusalText is a node with what it refuses, and below that the numbers it was decided by.
func (m *Model) refusalText(n *diagnostics.NodeRefusal, columns refusalColumns) []string {
	st := m.st
	name, text := cell.Clean(n.Node)+":", n.Message
	if n.Others > 0 {
		text += fmt.Sprintf(" (also refused by %s)", plural(int(n.Others), "other plugin"))
	}
	lead := cell.Blank(columns.reason)
	columns.reason += 2
	var lines []string
	for i, line := range columns.wrap(name+" "+st.Say(text), st) {
		shown := st.Dim.Render(line)
		if rest, whole := strings.CutPrefix(line, name); i == 0 && whole {
			shown = st.Plain.Render(name) + st.Dim.Render(rest)
		}
		lines = append(lines, lead+shown)
		lead = cell.Blank(columns.reason)
	}
	operands := make([]string, len(n.Operands))
	for i, o := range n.Operands {
		operands[i] = words(o.Name) + " " + valueOf(o.Value, o.Unit)
	}
	if len(operands) > 0 {
		for _, line := range columns.wrap(strings.Join(operands, ", "), st) {
			lines = append(lines, cell.Blank(columns.reason)+st.Faint.Render(line))
		}
	}
	return lines
}
