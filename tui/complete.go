package tui

import (
	"slices"
	"strings"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// maxCandidates bounds what completion looks at beyond the first match.
const maxCandidates = 8

// complete returns the lines that the typed line can become, the typed line left out.
func (m *Model) complete(line string) []string {
	name, arg, hasArg := strings.Cut(line, " ")
	if !hasArg {
		return matching(name, commandNames(), "")
	}
	for _, c := range commands {
		if c.complete != nil && (c.name == name || slices.Contains(c.aliases, name)) {
			return matching(strings.TrimLeft(arg, " "), c.complete(m), name+" ")
		}
	}
	return nil
}

func commandNames() []string {
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

func (m *Model) podLists() []*diagnostics.PodOverviewList {
	var out []*diagnostics.PodOverviewList
	for _, list := range []*diagnostics.PodOverviewList{m.pods.value, m.nodePods.value} {
		if list != nil {
			out = append(out, list)
		}
	}
	return out
}
