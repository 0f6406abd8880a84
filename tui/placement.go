package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/cell"
)

// placement is where pods would get nodes that do not exist yet.
type placement struct {
	*Model
	answer feed[*diagnostics.PlacementForecast]
}

// askAbout asks where copies of the pods of an object would get nodes.
func (p *placement) askAbout(question string, copied source.CopiedPods) tea.Cmd {
	src := p.source
	return askWithin(p.Model, &p.answer, askOnceTimeout, question, func(ctx context.Context) (*diagnostics.PlacementForecast, error) {
		forecaster, err := offered[source.PlacementForecaster](src, "forecast placements")
		if err != nil {
			return nil, err
		}
		return forecaster.ForecastPlacement(ctx, source.PlacementQuery{Copied: copied})
	})
}

func (p *placement) content(*page) content {
	c := content{feed: &p.answer.feedState, text: p.text}
	if p.answer.known {
		c.incomplete = p.answer.value.Incomplete
	}
	return c
}

// text is how many pods fit, what refuses the next one, how full the cluster is then, and the nodes, of which there may be many.
func (p *placement) text(width int) []string {
	f := p.answer.value
	mark, text := roleStyle(printer.PlacementRole(f.Verdict), p.st)
	beside := ""
	if w := f.Workload; w != nil && w.Wanted != nil {
		beside = p.st.Dim.Render(fmt.Sprintf("%d %s %d replicas", w.Replicas, p.st.Arrow, *w.Wanted))
	}
	lines := []string{p.heading(text.Render(mark+" "+cell.Clean(string(f.Verdict))), p.page().about.key(), beside, width)}
	lines = append(lines, p.sentence(f.Message, width)...)
	lines = append(lines, "", "   "+p.st.Faint.Render(nothingChanged))
	if f.Copies != nil && len(f.Copies.Groups) > 0 {
		lines = append(lines, "", " "+p.st.Title.Render(printer.AgainstOneMore))
		lines = append(lines, p.refusalsText(f.Copies.Groups, width)...)
	}
	for _, part := range []func(*strings.Builder, printer.Options) error{
		func(b *strings.Builder, o printer.Options) error { return printer.PlacementWaiting(b, f, o) },
		func(b *strings.Builder, o printer.Options) error { return printer.PlacementOutlook(b, f, o) },
		func(b *strings.Builder, o printer.Options) error { return printer.PlacementCapacity(b, f, o) },
		func(b *strings.Builder, o printer.Options) error {
			o.Wide = true // all nodes
			return printer.PlacementCopies(b, f, o)
		},
	} {
		if printed := p.printed(width, part); len(printed) > 1 {
			lines = append(lines, printed...)
		}
	}
	if f.Verdict == diagnostics.PlacementUnknown {
		lines = append(lines, p.findingsText(f.Findings, width)...) // others say what the answer says
	}
	for _, note := range f.Notes {
		lines = append(lines, p.sentence(note, width)...)
	}
	return lines
}

// expand shows the nodes of each reason, or hides them again.
func (p *placement) expand(m *Model) tea.Cmd {
	m.page().unfolded = !m.page().unfolded
	return nil
}
