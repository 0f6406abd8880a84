package tui

import (
	"slices"
	"strings"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/tui/internal/cell"
)

// agentText is what the agent of a node says, as the command line prints it: its features, what best-effort pods may use, and who
// would be evicted.
func (m *Model) agentText(width int) []string {
	var b strings.Builder
	options := printer.Options{
		Width: max(width-2, 20), Style: printer.Style{Color: m.st.Colour(), ASCII: m.st.ASCII}, Program: m.program, Now: m.clock.Now(),
	}
	// A builder takes everything.
	_ = printer.AgentExplanation(&b, m.agent.value, options)
	var lines []string
	for line := range strings.SplitSeq(strings.TrimRight(b.String(), "\n"), "\n") {
		lines = append(lines, cell.Truncate(" "+line, width, m.st.Ellipsis))
	}
	return lines
}

// agentIncomplete is what an answer lacks, that of the agent included.
func agentIncomplete(e *diagnostics.NodeExplanation) []string {
	missing := e.Status.Incomplete
	if e.Status.Agent != nil {
		missing = append(slices.Clone(missing), e.Status.Agent.Incomplete...)
	}
	return missing
}
