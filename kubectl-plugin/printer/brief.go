package printer

import (
	"io"
	"slices"
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// What a brief answer has at most, so that it is read at a glance.
const (
	mostEvidence = 5
	mostNext     = 3
)

// Brief is an answer in one sentence, what it rests on, and what to run next. Its texts are as they came from the cluster: Print makes them
// safe for a terminal.
type Brief struct {
	Role     Role
	Sentence string
	// Code of the reason; empty where there is none.
	Code string
	// Evidence, the weightiest first.
	Evidence []string
	// Next are commands, the most useful first.
	Next []string
	// Note says what the answer lacks for reasons that have nothing to do with the question.
	Note string
}

// Print writes the answer. What it has no room for is left out without a word: the last command shows it.
func (a Brief) Print(w io.Writer, o Options) error {
	var b strings.Builder
	sentence := o.Style.Mark(a.Role) + " " + o.Style.Paint(Strong, o.say(a.Sentence))
	if a.Code != "" {
		sentence += o.Style.Paint(Dim, " ["+o.Style.Clean(a.Code)+"]")
	}
	wrapped(&b, o, 0, sentence)
	for _, text := range a.Evidence[:min(len(a.Evidence), mostEvidence)] {
		wrapped(&b, o, 2, "- "+o.say(text))
	}
	if a.Note != "" {
		wrapped(&b, o, 2, o.Style.Paint(Dim, o.say(a.Note)))
	}
	if next := a.next(); len(next) > 0 {
		b.WriteString(o.Style.Paint(Header, o.say("Next")) + "\n")
		for _, command := range next {
			b.WriteString("    " + o.Style.Clean(Called(o.Program, command)) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// next are the first commands, each once, and always the last one, which explains in full.
func (a Brief) next() []string {
	var next []string
	for _, command := range a.Next {
		if command != "" && !slices.Contains(next, command) {
			next = append(next, command)
		}
	}
	if len(next) > mostNext {
		next = append(next[:mostNext-1], next[len(next)-1])
	}
	return next
}

// add appends what was found, errors first, and the commands that the hints name.
func (a *Brief) add(found []diagnosticsv1alpha1.Finding) {
	for _, severity := range []diagnosticsv1alpha1.Severity{diagnosticsv1alpha1.SeverityError, diagnosticsv1alpha1.SeverityWarning, diagnosticsv1alpha1.SeverityInfo} {
		for i := range found {
			f := &found[i]
			switch {
			case f.Severity != severity:
			case f.Code == string(finding.DiagnosticsUnavailable):
				a.Note = f.Message + " [" + f.Code + "]"
			default:
				a.Evidence = append(a.Evidence, f.Message+" ["+f.Code+"]")
				if isCommand(f.Hint) {
					a.Next = append(a.Next, f.Hint)
				}
			}
		}
	}
}

// isCommand is true for hints that can be run as they are.
func isCommand(hint string) bool {
	return strings.HasPrefix(hint, "kubectl ") || strings.HasPrefix(hint, "koordctl ")
}

// explainCommand is the command that explains an object in full. The namespace is empty for objects without one.
func explainCommand(kind, namespace, name string) string {
	command := "koordctl explain " + kind + " " + name
	if namespace != "" {
		command += " -n " + namespace
	}
	return command
}
