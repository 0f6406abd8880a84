package tui

import (
	"fmt"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/cell"
)

// findingsText lists findings with their codes and hints.
func (m *Model) findingsText(findings []diagnostics.Finding, width int) []string {
	st := m.st
	var lines []string
	for _, f := range findings {
		text, glyph := st.Dim, st.Dot
		switch f.Severity {
		case diagnostics.SeverityError:
			text, glyph = st.Bad, st.Cross
		case diagnostics.SeverityWarning:
			text, glyph = st.Warn, st.Hot
		}
		lines = append(lines, "")
		for i, line := range st.Wrap(string(f.Severity)+": "+st.Say(f.Message), max(width-6, 10)) {
			mark := "  "
			if i == 0 {
				mark = glyph + " "
			}
			lines = append(lines, " "+text.Render(mark+line))
		}
		if f.Hint != "" {
			for _, line := range st.Wrap(m.called(st.Say("hint: "+f.Hint)), max(width-6, 10)) {
				lines = append(lines, "   "+st.Plain.Render(line))
			}
		}
		lines = append(lines, "   "+st.Dim.Render(cell.Clean(f.Code)))
	}
	return lines
}

func (m *Model) originText(o diagnostics.Origin) string {
	who := cell.Clean(o.Component)
	if o.Instance != "" && o.Instance != o.Component {
		who += " " + cell.Clean(o.Instance)
	}
	if o.Leader {
		who += " (leader)"
	}
	if who == "" {
		return ""
	}
	text := "  answered by " + who
	if o.DurationMicroseconds > 0 {
		text += fmt.Sprintf(" in %.1f ms", float64(o.DurationMicroseconds)/1000)
	}
	return m.st.Faint.Render(m.st.Say(text))
}

// sentence is a wrapped text after an empty line; no lines for an empty text.
func (m *Model) sentence(text string, width int) []string {
	if text == "" {
		return nil
	}
	lines := []string{""}
	for _, line := range m.st.Wrap(m.st.Say(text), max(width-6, 20)) {
		lines = append(lines, "   "+m.st.Dim.Render(line))
	}
	return lines
}
