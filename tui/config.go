package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/source/proposal"
)

// configScreen lists the values of the configuration.
func configScreen(m *Model) *screen {
	s := &settings{Model: m}
	m.settings = s
	s.rows.table = newSettingTable()
	s.rows.rows = s.shown
	s.rows.incomplete = func(c *configured) []string { return c.missing }
	s.rows.object = func(r *settingRow) object { return settingObject(r.name) }
	s.rows.reason = func(r *settingRow, _ int) string { return r.reason() }
	s.rows.empty = s.empty
	edit := bind(groupView, true, "e", "edit", s.edit, "e")
	edit.withheld = s.withheld
	return &screen{
		name: configName,
		doc: "The configuration of co-location, ConfigMap `slo-controller-config`: each value in force, its default, the layer that sets it, and what is " +
			"wrong with it. `e` changes a value: the plan of the change is shown first, and nothing is written before you agree",
		commands: []command{{name: configName, aliases: []string{"configuration", "cfg"}, args: "[/FILTER]", help: "list the configuration", run: commandList(configName)}},
		keys: []action{
			bind(groupView, true, "enter", "explain", s.open, "enter", "x"),
			edit,
			bind(groupView, true, "tab", "all or set", s.toggle, "tab"),
			sortAction("K", "KEY", false),
			sortAction("S", "SETTING", false),
			sortAction("V", "VALUE", false),
			sortAction("L", "LAYER", false),
			sortAction("F", "FINDINGS", false),
		},
		ask:     func(*page) tea.Cmd { return s.ask() },
		content: func(*page) content { return s.rows.content() },
	}
}

// shown are the rows that are listed.
func (s *settings) shown(c *configured) []settingRow {
	if !s.set {
		return c.rows
	}
	var out []settingRow
	for _, r := range c.rows {
		if !r.isDefault() || len(r.found) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// toggle leaves out what has its default, or lists it again.
func (s *settings) toggle(*Model) tea.Cmd {
	s.set = !s.set
	if s.rows.value != nil {
		s.rows.table.SetRows(s.shown(s.rows.value))
	}
	if s.set {
		return s.say("what is set; tab lists the defaults too", false)
	}
	return s.say("all settings", false)
}

// empty says why nothing is listed.
func (s *settings) empty() (string, []string) {
	c := s.rows.value
	if c.Exists {
		return "everything has its default", []string{"tab lists the defaults"}
	}
	what, hints := fmt.Sprintf("no ConfigMap %s in namespace %s", c.Name, c.Namespace), []string{"koordctl config init writes one"}
	for _, problem := range proposal.InForceNow(c.Configuration).Problems() {
		_, inForce, _ := strings.Cut(problem.Message, "; ")
		hints = []string{inForce, problem.Hint}
	}
	return what, hints
}

// open explains the setting under the cursor.
func (s *settings) open(m *Model) tea.Cmd {
	if row := s.rows.table.Selected(); row != nil {
		return m.open(settingName, settingObject(row.name))
	}
	return nil
}

// edit asks for a new value of the setting under the cursor.
func (s *settings) edit(*Model) tea.Cmd {
	if row := s.rows.table.Selected(); row != nil {
		s.changes.askValue(row.name, row.Value)
	}
	return nil
}
