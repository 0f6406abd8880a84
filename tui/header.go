package tui

import (
	"fmt"
	"slices"
	"strings"

	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/tui/internal/bar"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/story"
	"koordinator.sh/koord/tui/internal/style"
)

// drawHeader says which cluster this is, and how old what is shown.
func (m *Model) drawHeader(width int) string {
	st, c := m.st, m.cluster.value
	left := " " + st.Title.Render("koord")
	if m.version != "" {
		left += " " + st.Dim.Render(cell.Clean(m.version))
	}
	for _, part := range []string{c.Context, different(c.Name, c.Context), c.ServerVersion, different(c.User, c.Context)} {
		if part != "" {
			left += st.Faint.Render(" "+st.Sep+" ") + st.Plain.Render(cell.Clean(part))
		}
	}
	right := m.freshness()
	if m.readOnly {
		right = st.Badge.Render(st.Say("read-only")) + "  " + right
	}
	room := width - cell.Width(right) - 2
	return cell.Left(left, room, st.Ellipsis) + " " + right + " "
}

func different(text, from string) string {
	if text == from {
		return ""
	}
	return text
}

// freshness is the age of what is shown. It is stale once two refreshes have not come; what is asked once, when ctrl-r failed to renew it.
func (m *Model) freshness() string {
	st, state := m.st, m.feed()
	if state == nil {
		state = &m.nodes.feedState
	}
	if !state.known {
		if m.failed(state) {
			return st.Bad.Render(st.Cross + " " + st.Say("no data"))
		}
		return st.Dim.Render(st.Late + " " + st.Say("loading"))
	}
	age := state.age(m.clock.Now())
	text := quantity.Age(age) + " ago"
	once := m.page().screen.once
	switch {
	case once && state.busy:
		return st.Dim.Render(st.Late + " " + st.Say("asking again, "+text))
	case once && state.err != nil, !once && age > 3*m.pace(state):
		return st.Warn.Render(st.Late + " " + st.Say("stale, "+text))
	}
	return st.OK.Render(st.Good) + st.Dim.Render(" "+st.Say(text))
}

// drawSummary is the co-location story of the cluster: a line a resource, and where there is room the legend.
func (m *Model) drawSummary(r rect) []string {
	if r.h == 0 {
		return nil
	}
	lines := []string{
		m.summaryLine("cpu", m.summary.cpu, quantity.Cores, " cores", r.w),
		m.summaryLine("mem", m.summary.memory, quantity.Bytes, "", r.w),
	}
	if r.h >= 4 {
		areas := append(slices.Clone(story.BarOrder), style.Rest)
		lines = append(lines, m.legend(areas, "", r.w), m.census())
	}
	return block(lines, r)
}

func (m *Model) summaryLine(name string, p story.Parts, unit func(int64) string, suffix string, width int) string {
	st := m.st
	head := "  " + st.Dim.Render(name) + " "
	if forbidden(m.nodes.err) && !m.nodes.known {
		return head + st.Faint.Render(st.Say("unknown: no permission to list nodes"))
	}
	if p.Nodes == 0 {
		return head + st.Faint.Render(strings.Repeat(st.Limit, max(width-cell.Width(head)-2, 0)))
	}
	story := m.storyText(p, unit, suffix, true)
	if width-cell.Width(head)-cell.Width(story)-4 < 10 {
		story = m.storyText(p, unit, "", false)
	}
	room := min(width-cell.Width(head)-cell.Width(story)-4, 64)
	if room < 6 {
		return cell.Truncate(head+story, width, st.Ellipsis)
	}
	return head + bar.Draw(p, room, st) + "  " + story
}

// storyText is requested, used and offered in one line.
func (m *Model) storyText(p story.Parts, unit func(int64) string, suffix string, long bool) string {
	st := m.st
	num := func(v int64) string { return st.Bold.Render(unit(v)) }
	share := func(v int64) string { return st.Dim.Render(" (" + quantity.Percent(v, p.Capacity) + ")") }
	arrow := st.Faint.Render(" " + st.Arrow + " ")
	used := st.Faint.Render(st.Say("unknown"))
	batchUsed, requested, prodRequested := used, used, used
	if p.Measured > 0 {
		used, batchUsed = num(p.ProdUsed)+share(p.ProdUsed), num(p.BatchUsed)
	}
	if p.KnowsRequests() {
		requested, prodRequested = num(p.ProdRequested), num(p.ProdRequested)+share(p.ProdRequested)
	}
	if !long {
		return st.Dim.Render(st.Say("prod req ")) + requested + arrow + st.Dim.Render(st.Say("used ")) + used + arrow +
			st.Dim.Render(st.Say("batch ")) + batchUsed + st.Dim.Render("/") + num(p.BatchOffered)
	}
	return num(p.Capacity) + st.Dim.Render(st.Say(suffix)) + st.Faint.Render(" "+st.Sep+" ") +
		st.Dim.Render(st.Say("prod requests ")) + prodRequested + arrow +
		st.Dim.Render(st.Say("uses ")) + used + arrow +
		st.Dim.Render(st.Say("batch offered ")) + num(p.BatchOffered) + st.Dim.Render(st.Say(", used ")) + batchUsed
}

// legend names areas, closer together where they do not fit otherwise.
func (m *Model) legend(areas []style.Area, more string, width int) string {
	var out []string
	for _, a := range areas {
		out = append(out, m.st.Areas.Swatch(a, m.st.Full)+" "+m.st.Dim.Render(m.st.Say(a.String())))
	}
	if more != "" {
		out = append(out, more)
	}
	line := "  " + strings.Join(out, "  ")
	if cell.Width(line) > width {
		line = " " + strings.Join(out, " ")
	}
	return cell.Truncate(line, width, m.st.Ellipsis)
}

// census counts the nodes by state.
func (m *Model) census() string {
	st, s := m.st, m.summary
	if !m.nodes.known {
		return "  " + st.Faint.Render(st.Say("nodes unknown"))
	}
	line := "  " + st.Plain.Render(st.Say(plural(s.nodes, "node")))
	unseen := "without data"
	if unknown.Of(m.nodes.value.Unknown).Has(unknown.NodeMetrics, unknown.SchedulerConfiguration) {
		unseen = "with unknown load"
	}
	for _, c := range []struct {
		n     int
		state nodeState
		word  string
	}{{s.hot, loadHot, "hot"}, {s.late, loadExpired, "with stale data"}, {s.unseen, loadUnknown, unseen}, {s.notReady, notReady, "not ready"}} {
		if c.n > 0 {
			glyph, text := stateMark(c.state, st)
			line += "  " + text.Render(glyph+" "+st.Say(fmt.Sprintf("%d %s", c.n, c.word)))
		}
	}
	return line
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// drawTitle names the view: kind(namespace)[count], its order and filter.
func (m *Model) drawTitle(width int) string {
	st, shown := m.st, ""
	if t := m.table(); t != nil && m.feed().known {
		shown = m.tableTitle(t)
	} else if t != nil && t.Filter() != "" {
		shown = " " + st.Accent.Render("/"+cell.Clean(t.Filter()))
	} else if lines, room := m.text(m.frame()); len(lines) > room {
		from := min(m.page().scroll, len(lines)-room)
		shown = st.Dim.Render(st.Say(fmt.Sprintf(" lines %d-%d of %d", from+1, from+room, len(lines))))
	}
	shown = cell.Truncate(shown, width*3/4, st.Ellipsis)
	rule := st.Rule + " "
	// A long name gives way to how much of it is shown.
	title := cell.Truncate(st.Say(m.page().title()), width-cell.Width(rule)-cell.Width(shown)-1, st.Ellipsis)
	left := st.Faint.Render(rule) + st.Title.Render(title) + shown + " "
	return left + st.Faint.Render(strings.Repeat(st.Rule, max(width-cell.Width(left), 0)))
}

// measuredOf says how many nodes a sum is short of; empty when it is whole.
func measuredOf(p story.Parts) string {
	if p.Measured == p.Nodes {
		return ""
	}
	return fmt.Sprintf(" measured on %d of %s", p.Measured, plural(p.Nodes, "node"))
}

func (m *Model) tableTitle(t *rows) string {
	st := m.st
	count := quantity.Count(int64(t.Len()))
	if t.Len() != t.Total() {
		count = st.Say(count + " of " + quantity.Count(int64(t.Total())))
	}
	out := st.Plain.Render("[" + count + "]")
	if n := t.Marks(); n > 0 {
		out += " " + st.Bold.Render(st.Say(quantity.Count(int64(n))+" marked"))
	}
	if t.Filter() != "" {
		out += " " + st.Accent.Render("/"+cell.Clean(t.Filter()))
	}
	if t.Problems() {
		out += " " + st.Warn.Render(st.Say("only problems"))
	}
	if t.Wide() {
		out += " " + st.Dim.Render(st.Say("wide"))
	}
	return out
}
