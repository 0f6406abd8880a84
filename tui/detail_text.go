package tui

import (
	"strings"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/quantity"
)

// fact is one line of a description.
type fact struct{ name, value string }

const factWidth = 24

// factText is the value of a fact: a sentence or a yes in the language of the reader, and a name as it is.
func (m *Model) factText(f fact) string {
	if text := orNone(f.value); strings.Contains(text, " ") || text == yesNo(true) || text == yesNo(false) {
		return m.st.Say(text)
	}
	return orNone(f.value)
}

// heading is the first line of a text: the state of an object, its name, of which as much is shown as fits, and what is said beside it.
func (m *Model) heading(state, name, beside string, width int) string {
	if beside != "" {
		beside = "  " + beside
	}
	lead := " " + state + "  "
	room := max(width-cell.Width(lead)-cell.Width(beside)-1, 1)
	return lead + m.st.Bold.Render(cell.Truncate(cell.Clean(name), room, m.st.Ellipsis)) + beside
}

// factsText lists facts; one without a value says so.
func (m *Model) factsText(facts []fact, width int) []string {
	var lines []string
	for _, f := range facts {
		lead := "  " + m.st.Dim.Render(cell.Left(m.st.Say(f.name), factWidth, m.st.Ellipsis)) + " "
		for _, line := range m.st.Wrap(m.factText(f), max(width-factWidth-4, 10)) {
			lines = append(lines, lead+m.st.Plain.Render(line))
			lead = cell.Blank(factWidth + 3)
		}
	}
	return lines
}

func (m *Model) nodeDetail(n *diagnostics.NodeOverview, width int) []string {
	now := m.clock.Now()
	glyph, text := stateMark(stateOf(n), m.st)
	lines := []string{m.heading(text.Render(glyph+" "+stateOf(n).word()), n.Name, "", width), ""}
	metric := words(string(n.Metric.State))
	if n.Metric.UpdateTime != nil {
		metric += ", " + ageOf(n.Metric.UpdateTime, now) + " old"
	}
	if n.Metric.ReportIntervalSeconds > 0 {
		metric += ", reported every " + quantity.Count(n.Metric.ReportIntervalSeconds) + "s"
	}
	load := string(n.Load.State)
	if n.Load.Message != "" {
		load += ": " + n.Load.Message
	}
	lines = append(lines, m.factsText([]fact{
		{"ready", yesNo(n.Ready)}, {"schedulable", yesNo(!n.Unschedulable)}, {"pods", known(wide(n.Pods), quantity.Count)},
		{"NodeMetric", metric}, {"load", load},
	}, width)...)
	if n.Balance != nil {
		lines = append(lines, m.factsText([]fact{{"balance", balanceOf(n.Balance)}}, width)...)
	}
	lines = append(lines, m.amountsText(nodeAmounts(n.CPU), nodeAmounts(n.Memory))...)
	if len(n.Load.Operands) > 0 {
		lines = append(lines, "", "  "+m.st.Dim.Render(m.st.Say("LOAD-AWARE SCHEDULING")))
	}
	for _, o := range n.Load.Operands {
		lines = append(lines, m.factsText([]fact{{words(o.Name), valueOf(o.Value, o.Unit)}}, width)...)
	}
	return lines
}

// balanceOf is koord-descheduler's view of a node: Overutilized (LowNodeLoad, node pool batch): cpu 81% > 75%.
func balanceOf(b *diagnostics.BalanceOverview) string {
	text, judge := string(b.State), b.Plugin
	if b.Pool != "" {
		judge += ", node pool " + b.Pool
	}
	if judge != "" {
		text += " (" + judge + ")"
	}
	if b.Message != "" {
		text += ": " + b.Message
	}
	return text
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// amount is one quantity of a node or pod; a nil value is not known.
type amount struct {
	name  string
	value *int64
}

func nodeAmounts(r diagnostics.ResourceOverview) []amount {
	return []amount{
		{"capacity", &r.Capacity}, {"allocatable", &r.Allocatable}, {"used", r.Used}, {"system used", r.SystemUsed},
		{"prod requested", r.ProdRequested}, {"prod used", r.ProdUsed}, {"prod reclaimable", r.Reclaimable},
		{"mid allocatable", r.MidAllocatable}, {"mid requested", r.MidRequested}, {"mid used", r.MidUsed},
		{"batch allocatable", r.BatchAllocatable}, {"batch requested", r.BatchRequested}, {"batch used", r.BatchUsed},
		{"free used", r.FreeUsed},
	}
}

func podAmounts(r diagnostics.PodResourceOverview) []amount {
	return []amount{{"requested", &r.Requested}, {"limit", r.Limit}, {"used", r.Used}}
}

// amountsText is a table of the same amounts of cpu and of memory.
func (m *Model) amountsText(cpu, memory []amount) []string {
	st := m.st
	const column = 12
	lines := []string{"", "  " + st.Dim.Render(cell.Left(st.Say("RESOURCE"), factWidth, "")+cell.Right("CPU", column, "")+cell.Right(st.Say("MEMORY"), column, ""))}
	for i, c := range cpu {
		lines = append(lines, "  "+st.Dim.Render(cell.Left(st.Say(c.name), factWidth, ""))+
			st.Bold.Render(cell.Right(known(c.value, quantity.Cores), column, ""))+
			st.Bold.Render(cell.Right(known(memory[i].value, quantity.Bytes), column, "")))
	}
	return lines
}

// wide is a count as other amounts are.
func wide(n *int32) *int64 {
	if n == nil {
		return nil
	}
	return new(int64(*n))
}

func known(v *int64, unit func(int64) string) string {
	if v == nil {
		return quantity.None
	}
	return unit(*v)
}

func (m *Model) podDetail(p *diagnostics.PodOverview, width int) []string {
	row, measured := &podRow{p}, "<none>"
	if p.ObservedAt != nil {
		measured = ageOf(p.ObservedAt, m.clock.Now()) + " ago"
	}
	lines := []string{m.heading(phaseCell(row, 0, m.st), podKey(row), "", width), ""}
	if p.Reason != "" {
		lines = append(lines, m.factsText([]fact{{"reason", p.Reason}}, width)...)
	}
	lines = append(lines, m.factsText([]fact{
		{"node", p.NodeName}, {"qos", p.QoSClass}, {"priority band", p.PriorityBand},
		{"requests in", "cpu " + orNone(p.CPU.Tier) + ", memory " + orNone(p.Memory.Tier)},
		{"measured", measured},
	}, width)...)
	return append(lines, m.amountsText(podAmounts(p.CPU), podAmounts(p.Memory))...)
}

// yamlText is YAML with its keys apart from its values; long lines go on below, further in.
func (m *Model) yamlText(text []string, width int) []string {
	var out []string
	for _, line := range text {
		line = cell.Clean(line)
		indent := len(line) - len(strings.TrimLeft(line, " -"))
		for i, part := range cell.Fold(line, max(width-2, 20), min(indent+4, width/2)) {
			key := ""
			if at := keyEnd(part); i == 0 && at > 0 {
				key, part = part[:at], part[at:]
			}
			out = append(out, " "+m.st.Info.Render(key)+m.st.Plain.Render(part))
		}
	}
	return out
}

// keyEnd is where the key of a line of YAML ends; 0 when the line has none.
func keyEnd(line string) int {
	if at := strings.Index(line, ": "); at > 0 {
		return at + 1
	}
	if strings.HasSuffix(line, ":") {
		return len(line)
	}
	return 0
}
