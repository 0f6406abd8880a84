package tui

import (
	"fmt"
	"strings"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// feed is where the current view's content comes from; nil where it needs none.
func (m *Model) feed() *feedState {
	c := m.page().content()
	state := c.feed
	if t := c.table; t != nil && t.Selector() != "" && state.known && (!m.selection.known || m.selection.err != nil) {
		return &m.selection.feedState
	}
	return state
}

// awaited reports whether the current view has no answer yet.
func (m *Model) awaited() bool {
	state := m.feed()
	return state != nil && !state.known
}

// incomplete lists what the current answer could not see.
func (m *Model) incomplete() []string { return m.page().content().incomplete }

// banners say above the content what is wrong with it: that it is old because asking fails, or that parts are missing.
func (m *Model) banners(width int) []string {
	state := m.feed()
	if state == nil || !state.known {
		return nil
	}
	st := m.st
	var out []string
	if state.err != nil {
		text := " " + st.Late + " " + st.Say(fmt.Sprintf("data of %s ago: %s", quantity.Age(state.age(m.clock.Now())), cell.Clean(state.err.Error())))
		tail := codeOf(state.err)
		if long := tail + st.Sep + st.Say(" ctrl-r retries"); cell.Width(text)+cell.Width(long)+2 <= width {
			tail = long
		}
		out = append(out, banner(text, tail, width, st.Bad, st))
	}
	if missing := m.incomplete(); len(missing) > 0 {
		text := " " + st.Half + " " + st.Say("incomplete: "+cell.Clean(missing[0]))
		more := ""
		if len(missing) > 1 {
			more = st.Say(fmt.Sprintf("and %d more, ? lists them", len(missing)-1))
		}
		out = append(out, banner(text, more, width, st.Warn, st))
	}
	return out
}

func banner(text, tail string, width int, in style.Style, st *style.Set) string {
	room := max(width-cell.Width(tail)-2, 0)
	return in.Render(cell.Left(text, room, st.Ellipsis)) + " " + st.Dim.Render(tail)
}

func codeOf(err error) string {
	if f, ok := finding.From(err); ok && f.Code != "" {
		return string(f.Code) + " "
	}
	return ""
}

// called writes the commands in a text with the name the program was called by.
func (m *Model) called(text string) string { return printer.Called(m.program, text) }

// failed reports whether there is an error in place of an answer. What is asked once may take long to be asked again, and is waited for.
func (m *Model) failed(state *feedState) bool {
	return state.err != nil && !(m.page().screen.once && state.busy)
}

// drawUnknown is a view before its first answer: blank, then a skeleton; or the error.
func (m *Model) drawUnknown(state *feedState, r rect) []string {
	switch {
	case m.failed(state):
		return m.drawError(state.err, r)
	case state.skeleton(m.clock.Now()):
		return m.drawSkeleton(state, r)
	}
	return nil
}

func (m *Model) drawError(err error, r rect) []string {
	st, width := m.st, min(max(r.w-8, 1), 90)
	var text []string
	for i, line := range st.Wrap(st.Say("error: "+err.Error()), width) {
		mark := "  "
		if i == 0 {
			mark = st.Cross + " "
		}
		text = append(text, st.Bad.Render(mark+line))
	}
	if f, ok := finding.From(err); ok {
		if f.Hint != "" {
			for _, line := range st.Wrap(m.called(st.Say("hint: "+f.Hint)), width) {
				text = append(text, st.Plain.Render("  "+line))
			}
		}
		text = append(text, st.Dim.Render("  "+string(f.Code)))
	} else {
		text = append(text, st.Plain.Render(st.Say("  hint: "+m.called("koordctl status"))))
	}
	again := " to retry now; retrying every " + quantity.Age(m.interval)
	if m.page().screen.once {
		again = " to retry now; it is not asked again by itself"
	}
	text = append(text, "", "  "+st.Key.Render("ctrl-r")+st.Dim.Render(st.Say(again)))
	return panel(text, r)
}

// panel puts lines a little above the middle, aligned to the left of their common block.
func panel(text []string, r rect) []string {
	widest := 0
	for _, line := range text {
		widest = max(widest, cell.Width(line))
	}
	lines := make([]string, 0, r.h)
	for range max((r.h-len(text))/3, 0) {
		lines = append(lines, "")
	}
	for _, line := range text {
		lines = append(lines, cell.Blank((r.w-widest)/2)+line)
	}
	return lines
}

// drawSkeleton shows where the content will be, and how long it has been waited for.
func (m *Model) drawSkeleton(state *feedState, r rect) []string {
	st := m.st
	wait := quantity.Age(m.clock.Now().Sub(state.asked))
	where := cell.Clean(m.cluster.value.Context)
	if where == "" {
		where = st.Say("the cluster")
	}
	lines := []string{" " + st.Dim.Render(st.Say("loading from "+where)+st.Ellipsis+" "+wait)}
	for i := range max(min(r.h-2, 12), 0) {
		line := " "
		for j, width := range []int{11, 9, 22, 5, 22, 5} {
			if cell.Width(line)+width >= r.w {
				break
			}
			line += st.Faint.Render(strings.Repeat(st.Areas.Patterns[style.BatchFree], max(width-(i*3+j*5)%4, 1))) + cell.Blank(2+(i*3+j*5)%4)
		}
		lines = append(lines, line)
	}
	return lines
}

// drawEmpty says that there is nothing, and how to get something.
func (m *Model) drawEmpty(r rect, what string, hints ...string) []string {
	width := max(r.w-4, 1)
	var text []string
	for _, line := range m.st.Wrap(m.st.Say(what), width) {
		text = append(text, m.st.Bold.Render(line))
	}
	text = append(text, "")
	for _, h := range hints {
		for _, line := range m.st.Wrap(m.called(m.st.Say(h)), width) {
			text = append(text, m.st.Dim.Render(line))
		}
	}
	return panel(text, r)
}

// drawNoMatch says that the filter hides everything.
func (m *Model) drawNoMatch(r rect, t *rows) []string {
	if t.Filter() != "" {
		return m.drawEmpty(r, fmt.Sprintf("none of %d matches /%s", t.Total(), cell.Clean(t.Filter())), "esc clears the filter")
	}
	return m.drawEmpty(r, fmt.Sprintf("none of %d has a problem", t.Total()), "ctrl-z shows all")
}
