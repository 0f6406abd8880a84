package printer

import (
	"fmt"
	"io"
	"strings"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/messages"
)

// entryText is a text of the catalogue of codes in a language.
func entryText(t finding.Text, language messages.Language) string {
	if language == messages.Chinese {
		return t.Chinese
	}
	return t.English
}

// Codes prints the catalogue, one code a line.
func Codes(w io.Writer, entries []finding.Entry, language messages.Language, o Options) error {
	t := table{columns: []column{
		{header: "CODE"}, {header: "SEVERITY", drop: 2}, {header: "CLASS", drop: 3}, {header: "NAME", drop: 1}, {header: "SUMMARY", flexible: 40},
	}}
	for i := range entries {
		e := &entries[i]
		t.add(text(string(e.Code)), painted(severityTextRole(e.Severity), e.Severity), text(string(e.Class)), text(e.Name), text(entryText(e.Summary, language)))
	}
	_, err := t.render(w, o)
	return err
}

var codeLabels = map[messages.Language][3]string{
	messages.English: {"Meaning", "Cause", "Fix"},
	messages.Chinese: {"含义", "原因", "处理"},
}

// Code prints one entry of the catalogue: what it means, what usually causes it, what to do.
func Code(w io.Writer, e finding.Entry, language messages.Language, o Options) error {
	labels, ok := codeLabels[language]
	if !ok {
		labels = codeLabels[messages.English]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s (%s, %s)\n", o.Style.Paint(Strong, string(e.Code)), e.Name,
		o.Style.Paint(severityTextRole(e.Severity), e.Severity), e.Class)
	for i, t := range []finding.Text{e.Summary, e.Cause, e.Fix} {
		b.WriteString("\n" + o.Style.Paint(Header, labels[i]) + "\n")
		wrapped(&b, o, 2, Called(o.Program, entryText(t, language)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func severityTextRole(severity string) Role {
	switch severity {
	case "error":
		return Bad
	case "warning":
		return Warn
	default:
		return Dim
	}
}
