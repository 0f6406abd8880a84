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
			return c.arguments(m, name+" ", strings.TrimLeft(arg, " "))
		}
	}
	return nil
}

// arguments completes what is typed after lead. Where a command takes several names, the last one is completed by those that are not there yet.
func (c *command) arguments(m *Model, lead, typed string) []string {
	candidates := c.complete(m)
	if at := strings.LastIndex(typed, " ") + 1; at > 0 && strings.HasSuffix(c.args, "...") {
		named := strings.Fields(typed[:at])
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(name string) bool { return slices.Contains(named, name) })
		lead, typed = lead+typed[:at], typed[at:]
	}
	return matching(typed, candidates, lead)
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
