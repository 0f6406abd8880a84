package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/grid"
	"koordinator.sh/koord/tui/internal/story"
	"koordinator.sh/koord/tui/internal/style"
)

// helpScreen lists the keys of the page it was asked for on, and all commands.
func helpScreen(m *Model) *screen {
	return &screen{
		name:     helpName,
		doc:      "The keys of the screen it is opened from, and all commands",
		commands: []command{{name: "help", aliases: []string{"h"}, help: "show keys and commands", run: func(m *Model, _ string) tea.Cmd { return m.open(helpName, object{}) }}},
		content:  func(*page) content { return content{text: m.helpText} },
	}
}

func (m *Model) openHelp() tea.Cmd {
	if m.page().screen.name == helpName {
		return m.pop()
	}
	return m.open(helpName, object{})
}

// helpText is made from the actions of the view that help was asked for in, and from the commands.
func (m *Model) helpText(width int) []string {
	st := m.st
	below := m.helped()
	actions, missing := m.actionsOf(below), below.content().incomplete
	var sections [][]string
	for _, g := range groups {
		var lines []string
		for _, a := range actions {
			if a.group == g && a.Enabled() {
				lines = append(lines, "  "+st.Key.Render(cell.Left(a.Help().Key, 12, ""))+st.Plain.Render(st.Say(a.Help().Desc)))
			}
		}
		if len(lines) > 0 {
			sections = append(sections, append([]string{" " + st.Title.Render(st.Say(string(g)))}, lines...))
		}
	}
	lines := append(beside(sections, width, st), m.withheldHelp(below, width)...)
	lines = append(lines, m.fixedHelp()...)
	if len(missing) > 0 {
		lines = append(lines, "", " "+st.Warn.Render(st.Half+" "+st.Say("incomplete")))
		for _, text := range missing {
			for _, line := range st.Wrap(st.Say(text), max(width-4, 10)) {
				lines = append(lines, "  "+st.Plain.Render(line))
			}
		}
	}
	return lines
}

// fixedHelp is the part that is the same on every page: the commands, the areas and the filters.
func (m *Model) fixedHelp() []string {
	st := m.st
	lines := []string{"", " " + st.Title.Render(st.Say("commands"))}
	for _, c := range m.commands() {
		lines = append(lines, "  "+st.Key.Render(cell.Left(":"+c.name+" "+c.args, 32, ""))+st.Plain.Render(st.Say(c.help)))
	}
	lines = append(lines, "", " "+st.Title.Render(st.Say("areas of bars and charts")))
	for _, a := range append(slices.Clone(story.ChartOrder), style.Rest) {
		lines = append(lines, "  "+st.Areas.Swatch(a, st.Full)+" "+st.Plain.Render(cell.Left(st.Say(a.String()), 15, ""))+st.Dim.Render(st.Say(areaHelp[a])))
	}
	lines = append(lines, "", " "+st.Title.Render(st.Say("filters")))
	for _, f := range grid.FilterForms {
		lines = append(lines, "  "+st.Key.Render(cell.Left("/"+f.Form, 32, ""))+st.Plain.Render(st.Say(f.Help)))
	}
	return lines
}

var areaHelp = map[style.Area]string{
	style.ProdUsed:     "used by pods that are not mid, batch or free",
	style.ProdReserved: "requested by those pods, neither used nor offered to others",
	style.Mid:          "offered to mid pods, or used by them where that is more",
	style.BatchUsed:    "used by batch pods",
	style.BatchFree:    "offered as batch resources and not used",
	style.System:       "used outside of pods",
	style.Rest:         "neither used nor offered",
}

// withheldHelp says which actions of the view are not to be had, and why.
func (m *Model) withheldHelp(below *page, width int) []string {
	var lines []string
	for _, a := range below.screen.keys {
		if a.withheld == nil || a.withheld(below) == "" {
			continue
		}
		if lines == nil {
			lines = append(lines, "", " "+m.st.Title.Render(m.st.Say("not available")))
		}
		lead := m.st.Dim.Render(cell.Left(a.Help().Key, 12, ""))
		for _, line := range m.st.Wrap(m.st.Say(a.Help().Desc)+": "+m.st.Say(a.withheld(below)), max(width-16, 10)) {
			lines = append(lines, "  "+lead+m.st.Dim.Render(line))
			lead = cell.Blank(12)
		}
	}
	return lines
}

// helped is the page below the help.
func (m *Model) helped() *page {
	p := m.page()
	if p.screen.name == helpName && len(m.pages) > 1 {
		p = &m.pages[len(m.pages)-2]
	}
	return p
}

// beside puts sections into as many columns as fit, each where there is the most room left.
func beside(sections [][]string, width int, st *style.Set) []string {
	const column = 40
	columns := make([][]string, max(min(width/column, len(sections)), 1))
	for _, section := range sections {
		shortest := 0
		for i := range columns {
			if len(columns[i]) < len(columns[shortest]) {
				shortest = i
			}
		}
		if len(columns[shortest]) > 0 {
			columns[shortest] = append(columns[shortest], "")
		}
		columns[shortest] = append(columns[shortest], section...)
	}
	return zip(columns, column, st)
}

func zip(row [][]string, column int, st *style.Set) []string {
	height := 0
	for _, section := range row {
		height = max(height, len(section))
	}
	lines := make([]string, height)
	for i := range lines {
		for _, section := range row {
			text := ""
			if i < len(section) {
				text = section[i]
			}
			lines[i] += cell.Left(text, column, st.Ellipsis)
		}
	}
	return lines
}
