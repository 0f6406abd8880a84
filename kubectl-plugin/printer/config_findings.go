package printer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/core/phrase"
)

// ConfigFindings prints what is wrong with a configuration: one paragraph a finding with its place, and below it the cause,
// the values it was concluded from, and what to do. The subject is the file or object that was checked.
func ConfigFindings(w io.Writer, subject string, found []configuration.Finding, o Options) error {
	var b strings.Builder
	for i := range found {
		configFinding(&b, subject, &found[i], o)
	}
	wrapped(&b, o, 0, o.Style.Paint(Strong, o.label(subject)+o.say(findingCounts(found))))
	_, err := io.WriteString(w, b.String())
	return err
}

func configFinding(b *strings.Builder, subject string, f *configuration.Finding, o Options) {
	role := SeverityRole(f.Severity)
	wrapped(b, o, 0, fmt.Sprintf("%s %s %s %s", o.Style.Mark(role), o.Style.Paint(role, string(f.Severity)), f.Code,
		o.Style.Paint(Strong, o.say(placeOf(subject, f)))))
	wrapped(b, o, 4, o.say(sentenceOf(f.Message)))
	entry, _ := finding.Lookup(f.Code)
	row := func(label, text string) {
		if text != "" {
			name := o.label(label)
			wrapped(b, o, 4, o.Style.Paint(Dim, name+strings.Repeat(" ", max(ansi.StringWidth(o.label("cause"))-ansi.StringWidth(name), 0)))+text)
		}
	}
	row("cause", o.sayEntry(f.Cause, entry.Cause))
	for _, e := range f.Evidence {
		row("seen", evidenceText(e, o))
	}
	row("on", o.say(holdsOn(f)))
	row("fix", Called(o.Program, o.sayEntry(f.Fix, entry.Fix)))
	b.WriteString("\n")
}

// placeOf is KEY.PATH with its line, in the file where that is known.
func placeOf(subject string, f *configuration.Finding) string {
	place := f.Where()
	switch {
	case f.FileLine > 0:
		return fmt.Sprintf("%s:%d: %s (line %d of the key)", subject, f.FileLine, place, f.Line)
	case f.Line > 0:
		return fmt.Sprintf("%s (line %d, column %d)", place, f.Line, f.Column)
	}
	return place
}

// sentenceOf ends with a period, or the question mark of a suggestion.
func sentenceOf(text string) string {
	if text == "" || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

func evidenceText(e configuration.Evidence, o Options) string {
	text := o.Style.Clean(configuration.JoinKey(e.Key, e.Path) + " = " + e.Value)
	var notes []string
	if e.Layer != "" {
		notes = append(notes, e.Layer)
	}
	if e.Line > 0 {
		notes = append(notes, fmt.Sprintf("line %d", e.Line))
	}
	if len(notes) > 0 {
		text += " (" + o.say(strings.Join(notes, ", ")) + ")"
	}
	return text
}

func holdsOn(f *configuration.Finding) string {
	layers := slices.DeleteFunc(slices.Clone(f.Layers), func(layer string) bool { return layer == "cluster" })
	text := strings.Join(layers, ", ")
	if f.Nodes > 0 {
		if text != "" {
			text += ", "
		}
		text += phrase.Counted(f.Nodes, "node")
	}
	return text
}

// findingCounts says how many there are of each severity.
func findingCounts(found []configuration.Finding) string {
	counts := map[diagnosticsv1alpha1.Severity]int{}
	for i := range found {
		counts[found[i].Severity]++
	}
	var parts []string
	for _, severity := range []struct {
		severity diagnosticsv1alpha1.Severity
		word     string
	}{{diagnosticsv1alpha1.SeverityError, "error"}, {diagnosticsv1alpha1.SeverityWarning, "warning"}, {diagnosticsv1alpha1.SeverityInfo, "note"}} {
		if n := counts[severity.severity]; n > 0 {
			parts = append(parts, phrase.Counted(n, severity.word))
		}
	}
	if len(parts) == 0 {
		return "no findings"
	}
	return strings.Join(parts, ", ")
}
