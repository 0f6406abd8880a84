package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/tui/internal/cell"
)

// settingScreen explains one setting of the configuration.
func settingScreen(m *Model) *screen {
	s := m.settings
	edit := bind(groupView, true, "e", "edit", func(m *Model) tea.Cmd {
		name := m.page().about.name
		value := ""
		if row := s.row(name); row != nil {
			value = row.Value
		}
		s.changes.askValue(name, value)
		return nil
	}, "e")
	edit.withheld = s.withheld
	return &screen{
		name: settingName,
		doc: "One setting of the configuration: what it does, its range and default, the value in force and the layer that sets it, what is wrong with it, " +
			"and its key as the ConfigMap has it",
		commands: []command{{name: settingName, args: "KEY.PATH", help: "explain a setting of the configuration", complete: func(*Model) []string { return s.names() },
			run: commandSetting}},
		keys:  []action{edit},
		crumb: func(p *page) string { return "setting " + p.about.name },
		title: func(p *page) string { return cell.Clean("setting " + p.about.name) },
		ask:   func(*page) tea.Cmd { return s.ask() },
		content: func(p *page) content {
			c := s.rows.content()
			c.table, c.text = nil, func(width int) []string { return s.settingText(p.about.name, width) }
			return c
		},
	}
}

func commandSetting(m *Model, name string) tea.Cmd {
	if _, err := configuration.ParseKeyPath(name); err != nil {
		if name == "" {
			return m.say("key path required: :setting KEY.PATH", true)
		}
		return m.say(err.Error(), true)
	}
	return m.open(settingName, settingObject(name))
}

// settingText is what the command line explains of a setting, and what there is of it.
func (s *settings) settingText(name string, width int) []string {
	path, err := configuration.ParseKeyPath(name)
	if err != nil {
		return s.sentence(err.Error(), width)
	}
	lines := []string{""}
	if fields, err := configuration.Explain(path); err != nil {
		lines = append(lines, s.sentence(err.Error(), width)...)
	} else {
		lines = append(lines, s.printed(width, func(b *strings.Builder, o printer.Options) error { return printer.ConfigFields(b, fields, o) })...)
	}
	row, c := s.row(name), s.rows.value
	value, layer := "", "not set"
	if row != nil {
		value, layer = row.Value, row.Layer
	}
	lines = append(lines, "")
	lines = append(lines, s.factsText([]fact{{"value in force", value}, {"layer", layer}, {"configmap", c.Namespace + "/" + c.Name}}, width)...)
	if row != nil && len(row.found) > 0 {
		lines = append(lines, "")
		lines = append(lines, s.printed(width, func(b *strings.Builder, o printer.Options) error {
			return printer.ConfigFindings(b, path.Key, row.found, o)
		})...)
	}
	return append(lines, s.keyText(path.Key, width)...)
}

// keyText is a key as the ConfigMap has it: as YAML where it can be read, else as it is written.
func (s *settings) keyText(key string, width int) []string {
	text, set := s.rows.value.Data[key]
	if !set {
		return s.sentence(key+" is not in the ConfigMap; its defaults are in force", width)
	}
	lines := []string{"", " " + s.st.Title.Render(cell.Clean(key))}
	if asYAML, err := yaml.JSONToYAML([]byte(text)); err == nil {
		text = string(asYAML)
	}
	return append(lines, s.yamlText(strings.Split(strings.TrimRight(text, "\n"), "\n"), width)...)
}
