package kubectlplugin

import (
	"context"
	"errors"
	"fmt"
	"io"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/printer"
	"koordinator.sh/koord/messages"
)

// failed is what an error's text depends on beside the error.
type failed struct {
	// command that failed, as the user called it.
	command string
	// program is the name the program was called by.
	program string
	style   printer.Style
	// language of the reader.
	language messages.Language
}

// printError writes an error as three lines at most: what failed, the next command to run, the code with its name, and in other languages than
// English what the code means. An
// interruption the user asked for is not an error to tell about, and neither is an exit code whose meaning was printed.
func printError(w io.Writer, err error, f failed) {
	if !f.tells(err) {
		return
	}
	fmt.Fprintf(w, "%s %s\n", f.style.Paint(printer.Bad, f.language.Text("error:")), f.say(err.Error()))
	hint, code := f.advice(err)
	if hint != "" {
		fmt.Fprintf(w, "%s %s\n", f.style.Paint(printer.Dim, f.language.Text("hint:")), printer.Called(f.program, f.say(hint)))
	}
	if code == "" {
		return
	}
	name := ""
	if entry, ok := finding.Lookup(code); ok {
		name = " " + entry.Name
	}
	fmt.Fprintln(w, f.style.Paint(printer.Dim, string(code)+name+": "+f.say(fmt.Sprintf("see %s why %s", f.program, code))))
	_ = printer.Legend(w, string(code), printer.Options{Style: f.style, Language: f.language, Program: f.program})
}

func (f failed) say(english string) string { return f.style.Clean(f.language.Text(english)) }

// tells reports whether an error is printed.
func (f failed) tells(err error) bool {
	var quiet interface{ Quiet() bool }
	return err != nil && !(errors.Is(err, context.Canceled) && ExitCode(err) == ExitInterrupted) && !(errors.As(err, &quiet) && quiet.Quiet())
}

// advice is the next command to run, and the error's code if it has one. What is wrong with a flag or an argument, the help
// of the command explains.
func (f failed) advice(err error) (string, finding.Code) {
	coded, ok := finding.From(err)
	switch {
	case ok && coded.Hint != "":
		return coded.Hint, coded.Code
	case isUsage(err):
		return fmt.Sprintf("see %s --help", f.command), codeOf(coded)
	default:
		return "", codeOf(coded)
	}
}

// isUsage says whether a flag or an argument is wrong, which the exit code of diff and plan does not.
func isUsage(err error) bool {
	if compared := (comparing{}); errors.As(err, &compared) {
		err = compared.error
	}
	return ExitCode(err) == ExitUsage
}

func codeOf(coded *finding.Error) finding.Code {
	if coded == nil {
		return ""
	}
	return coded.Code
}
