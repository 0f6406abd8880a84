package printer

import (
	"io"
	"strings"
)

// forecastHead prints how a forecast begins: the verdict with its sentence, lines below it as they are, and notes on what it assumes.
func forecastHead(w io.Writer, role Role, verdict, message string, lines, notes []string, o Options) error {
	var b strings.Builder
	wrapped(&b, o, 0, o.Style.Mark(role)+" "+o.Style.Paint(role, o.Style.Clean(verdict))+": "+o.Style.Paint(Strong, o.say(message)))
	for _, line := range lines {
		b.WriteString("  " + o.Style.Clean(line) + "\n")
	}
	for _, note := range notes {
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(note)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
