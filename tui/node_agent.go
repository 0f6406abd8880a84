package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/tui/internal/cell"
)

// agentCandidates bounds the pods listed for each trigger of an eviction.
const agentCandidates = 5

// askAgent asks the agent of a node what it does. It is asked only while its tab is seen.
func (n *node) askAgent(name string) tea.Cmd {
	src := n.source
	return ask(n.Model, &n.agent, name, func(ctx context.Context) (*diagnostics.NodeExplanation, error) {
		return src.ExplainNode(ctx, name, diagnostics.NodeExplanationSpec{NodeName: name, Agent: &diagnostics.AgentQuestion{
			Sections:      []diagnostics.AgentSection{diagnostics.SectionFeatures, diagnostics.SectionSuppression, diagnostics.SectionContainers, diagnostics.SectionEvictions},
			MaxCandidates: new(int32(agentCandidates)),
		}})
	})
}

// agentText is what the agent of a node says, as the command line prints it: its features, what best-effort pods may use, and who
// would be evicted.
func (n *node) agentText(width int) []string {
	return n.printed(width, func(b *strings.Builder, options printer.Options) error {
		return printer.AgentExplanation(b, n.agent.value, options)
	})
}

// printed is what a printer of the command line writes, in lines.
func (m *Model) printed(width int, write func(*strings.Builder, printer.Options) error) []string {
	var b strings.Builder
	options := printer.Options{Width: max(width-2, 20), Style: printer.Style{Color: m.st.Colour(), ASCII: m.st.ASCII}, Language: m.st.Language, Program: m.program, Now: m.clock.Now()}
	// A builder takes everything.
	_ = write(&b, options)
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
