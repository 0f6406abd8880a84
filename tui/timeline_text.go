package tui

import (
	"time"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// The columns of a timeline, in cells.
const (
	timelineMark  = len("  o ")
	timelineAge   = 6  // at least
	timelineLast  = 7  // at least
	timelineEvent = 30 // at most
	timelineBy    = 32 // at most
	// timelineBeside is the least room for messages beside what they are about. Where there is less they are below.
	timelineBeside = 60
)

// timelineGrid is where the columns of a timeline are.
type timelineGrid struct {
	// clock is how times are written; empty where ages alone are shown.
	clock string
	// age, last, event and by are the widths of the columns, and message where messages begin.
	age, last, event, by, message int
	beside                        bool
}

// timelineText is what happened to the object last, and then all of it, the oldest first.
func (d *timeline) timelineText(width int) []string {
	t, st := d.answer.value, d.st
	if len(t.Entries) == 0 {
		return append([]string{d.heading(st.Dim.Render(st.Unknown+" "+st.Say("nothing is recorded of")), timelineOf(d.page().about), "", width)}, d.timelineNotes(t.Notes, width)...)
	}
	last := &t.Entries[latest(t.Entries)]
	glyph, text := entryMark(last, st)
	lines := []string{
		d.heading(text.Render(glyph+" "+cell.Clean(printer.TimelineEvent(last))), timelineOf(d.page().about), st.Dim.Render(st.Say(quantity.AgeOf(d.clock.Now(), lastTime(last))+" ago")), width), "",
	}
	g := d.timelineGrid(t.Entries, width)
	lines = append(lines, g.header(st))
	for i := range t.Entries {
		lines = append(lines, d.entryText(&t.Entries[i], g, i == len(t.Entries)-1, width)...)
	}
	return append(lines, d.timelineNotes(t.Notes, width)...)
}

// latest is the entry that happened last. Those that happened several times come in the order of their first times.
func latest(entries []diagnostics.TimelineEntry) int {
	at := 0
	for i := range entries {
		if !lastTime(&entries[i]).Before(lastTime(&entries[at])) {
			at = i
		}
	}
	return at
}

func lastTime(e *diagnostics.TimelineEntry) time.Time {
	if e.LastTime != nil {
		return e.LastTime.Time
	}
	return e.Time.Time
}

func entryMark(e *diagnostics.TimelineEntry, st *style.Set) (string, style.Style) {
	if e.Warning {
		return st.Hot, st.Warn
	}
	return st.Good, st.Info
}

// timelineGrid divides a width: the columns are as wide as what is in them.
func (d *timeline) timelineGrid(entries []diagnostics.TimelineEntry, width int) timelineGrid {
	g := timelineGrid{age: timelineAge, last: timelineLast}
	for i := range entries {
		age, last := d.entryAges(&entries[i])
		g.age, g.last = max(g.age, len(age)), max(g.last, len(last)+1)
		g.event = max(g.event, cell.Width(cell.Clean(printer.TimelineEvent(&entries[i]))))
		g.by = max(g.by, cell.Width(cell.Clean(entries[i].By)))
	}
	g.message = timelineMark + g.age + g.last + 2
	if d.page().unfolded {
		g.clock = printer.TimelineLayout(entries)
		g.message += len(g.clock) + 1
	}
	g.event = min(max(g.event, len("EVENT")), timelineEvent)
	g.by = min(max(g.by, len("BY")), timelineBy, max(width-g.message-g.event-3, len("BY")))
	if end := g.message + g.event + g.by + 4; width-end-1 >= timelineBeside {
		g.beside, g.message = true, end
	}
	return g
}

func (g *timelineGrid) header(st *style.Set) string {
	line := cell.Blank(timelineMark)
	if g.clock != "" {
		line += cell.Left(st.Say("TIME"), len(g.clock)+1, "")
	}
	line += cell.Right(st.Say("AGE"), g.age, "") + cell.Right(st.Say("LAST"), g.last, "") + "  " + cell.Left(st.Say("EVENT"), g.event+2, "")
	if g.beside {
		return st.Dim.Render(line + cell.Left("BY", g.by+2, "") + st.Say("MESSAGE"))
	}
	return st.Dim.Render(line + "BY")
}

// entryText is one entry: its line, and its message beside or below. A rule on the left leads to the next entry.
func (d *timeline) entryText(e *diagnostics.TimelineEntry, g timelineGrid, end bool, width int) []string {
	st, rail := d.st, " "
	if !end {
		rail = d.st.Line
	}
	lines := []string{d.entryLine(e, g)}
	below := "  " + st.Faint.Render(rail) + cell.Blank(g.message-len("  |"))
	for i, part := range d.st.Wrap(d.st.Say(printer.TimelineMessage(e, d.page().unfolded)), max(width-g.message-1, 20)) {
		switch {
		case part == "":
		case i == 0 && g.beside:
			lines[0] += cell.Blank(g.message-cell.Width(lines[0])) + st.Plain.Render(part)
		default:
			lines = append(lines, below+st.Plain.Render(part))
		}
	}
	return lines
}

// entryLine is when something happened, first and last, what it was and who did it.
func (d *timeline) entryLine(e *diagnostics.TimelineEntry, g timelineGrid) string {
	st := d.st
	glyph, text := entryMark(e, st)
	line := "  " + text.Render(glyph) + " "
	if g.clock != "" {
		line += st.Plain.Render(cell.Left(e.Time.UTC().Format(g.clock), len(g.clock)+1, ""))
	}
	by := st.Faint.Render(quantity.None)
	if e.By != "" {
		by = st.Dim.Render(cell.Truncate(cell.Clean(e.By), g.by, st.Ellipsis))
	}
	if !e.Warning {
		text = st.Bold
	}
	age, last := d.entryAges(e)
	return line + st.Plain.Render(cell.Right(age, g.age, "")) + st.Dim.Render(cell.Right(last, g.last, "")) + "  " +
		text.Render(cell.Left(cell.Clean(printer.TimelineEvent(e)), g.event, st.Ellipsis)) + "  " + by
}

// entryAges are how long ago something happened first, and last where it happened several times.
func (d *timeline) entryAges(e *diagnostics.TimelineEntry) (first, last string) {
	first, last = quantity.AgeOf(d.clock.Now(), e.Time.Time), quantity.None
	if e.LastTime != nil {
		last = quantity.AgeOf(d.clock.Now(), e.LastTime.Time)
	}
	return first, last
}

// timelineNotes say what holds without a time, and what is not recorded.
func (d *timeline) timelineNotes(notes []string, width int) []string {
	var lines []string
	for _, note := range notes {
		lines = append(lines, d.sentence(note, width)...)
	}
	return lines
}
