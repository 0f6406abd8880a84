package printer

import (
	"io"
	"strconv"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// scores prints nodes as rows and plugins as columns; plugins that gave every node nothing are left out.
func scores(w io.Writer, p *diagnosticsv1alpha1.Placement, o Options) error {
	t := table{indent: 2, columns: []column{{header: "NODE", flexible: 20}, {header: "TOTAL", right: true}}}
	plugins := scoringPlugins(p.Scores)
	for i, name := range plugins {
		t.columns = append(t.columns, column{header: o.Style.Clean(name), right: true, drop: i + 1})
	}
	for i := range p.Scores {
		score := &p.Scores[i]
		role := Plain
		if score.Node == p.Node {
			role = Strong
		}
		row := []cell{painted(role, score.Node), painted(role, strconv.FormatInt(score.Total, 10))}
		for _, name := range plugins {
			row = append(row, text(pluginScore(score, name)))
		}
		t.add(row...)
	}
	hidden, err := t.render(w, o)
	if err != nil || len(hidden) == 0 {
		return err
	}
	return hiddenNote(w, hidden, o)
}

// scoringPlugins in the order in which the best node's shares come, then those of the others.
func scoringPlugins(scores []diagnosticsv1alpha1.NodeScore) []string {
	var names []string
	seen := map[string]bool{}
	for i := range scores {
		for _, plugin := range scores[i].Plugins {
			if plugin.Score != 0 && !seen[plugin.Plugin] {
				seen[plugin.Plugin] = true
				names = append(names, plugin.Plugin)
			}
		}
	}
	return names
}

func pluginScore(score *diagnosticsv1alpha1.NodeScore, name string) string {
	for _, plugin := range score.Plugins {
		if plugin.Plugin == name {
			return strconv.FormatInt(plugin.Score, 10)
		}
	}
	return "-"
}
