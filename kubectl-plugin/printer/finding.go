package printer

import (
	"fmt"
	"io"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// findings prints what was noticed on the way, each with its code, and the next command below it.
func findings(w io.Writer, found []diagnosticsv1alpha1.Finding, o Options) error {
	if len(found) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("\n" + o.Style.Paint(Header, o.say("Findings")) + "\n")
	for i := range found {
		f := &found[i]
		role := SeverityRole(f.Severity)
		line := fmt.Sprintf("%s %s %s %s", o.Style.Mark(role), o.Style.Paint(role, o.Style.Clean(string(f.Severity))), o.Style.Clean(f.Code), o.say(f.Message))
		if f.Object != nil {
			line += o.Style.Paint(Dim, o.Style.Clean(" ("+Source(f.Object, o.Wide)+")"))
		}
		wrapped(&b, o, 2, line)
		if f.Hint != "" {
			wrapped(&b, o, 4, o.Style.Paint(Dim, o.label("hint"))+Called(o.Program, o.say(f.Hint)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// SeverityRole is the role in which a finding of that severity is shown.
func SeverityRole(severity diagnosticsv1alpha1.Severity) Role {
	switch severity {
	case diagnosticsv1alpha1.SeverityError:
		return Bad
	case diagnosticsv1alpha1.SeverityWarning:
		return Warn
	default:
		return Dim
	}
}

// origin says who answered, when, and how long it took.
func origin(w io.Writer, from diagnosticsv1alpha1.Origin, o Options) error {
	if from.Component == "" {
		return nil
	}
	line := "answered by " + from.Component
	if from.Instance != "" && o.Wide {
		line += " " + from.Instance
	}
	if from.DurationMicroseconds > 0 {
		line += fmt.Sprintf(" in %s ms", decimal(float64(from.DurationMicroseconds)/1000, 1))
	}
	if when := Ago(o.Now, &from.EvaluatedAt); when != none {
		line += ", " + when
	}
	var b strings.Builder
	b.WriteString("\n")
	wrapped(&b, o, 0, o.Style.Paint(Dim, o.say(line)))
	_, err := io.WriteString(w, b.String())
	return err
}
