package tui

import (
	"slices"
	"strings"
)

// maxCandidates bounds what completion looks at beyond the first match.
const maxCandidates = 8

// complete returns the lines that the typed line can become, the typed line left out.
func (m *Model) complete(line string) []string {
	name, arg, hasArg := strings.Cut(line, " ")
	if !hasArg {
		return matching(name, m.commandNames(), "")
	}
	for _, c := range m.commands() {
		if c.complete != nil && (c.name == name || slices.Contains(c.aliases, name)) {
			return matching(strings.TrimLeft(arg, " "), c.complete(m), name+" ")
		}
	}
	return nil
}

func (m *Model) commandNames() []string {
	commands := m.commands()
	out := make([]string, len(commands))
	for i, c := range commands {
		out[i] = c.name
	}
	return out
}

func matching(typed string, candidates []string, lead string) []string {
	var out []string
	for _, c := range candidates {
		if strings.HasPrefix(c, typed) && c != typed {
			if out = append(out, lead+c); len(out) == maxCandidates {
				break
			}
		}
	}
	return out
}
