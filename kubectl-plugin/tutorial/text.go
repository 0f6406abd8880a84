package tutorial

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"koordinator.sh/koord/messages"
)

// width of the lines of text, and how far they and the commands are indented.
const (
	width  = 100
	indent = "   "
)

func (s *Session) printIntro(t Tutorial) {
	fmt.Fprintln(s.Out, s.Language.Text(t.Title))
	s.printText(t.Intro)
}

func (s *Session) printStep(number int, step Step) {
	fmt.Fprintf(s.Out, "\n%d. %s\n", number, s.Language.Text(step.Title))
	s.printText(step.Text)
}

// printText prints paragraphs, wrapped, each after an empty line.
func (s *Session) printText(text string) {
	for _, paragraph := range paragraphs(text) {
		fmt.Fprintln(s.Out)
		for _, line := range messages.Wrap(s.Language.Text(paragraph), width) {
			fmt.Fprintln(s.Out, indent+line)
		}
	}
}

// printRan prints a command after an empty line.
func printRan(out io.Writer, ran Ran) {
	fmt.Fprintln(out)
	fmt.Fprintln(out, indented("$ "+ran.Line))
	if output := strings.TrimRight(ran.Output, "\n"); output != "" {
		fmt.Fprintln(out, indented(output))
	}
}

// columnGap is between the columns of a table.
const columnGap = 3

// aligned are the rows of a table in the language of the reader.
func (s *Session) aligned(rows [][]string) []string {
	said := make([][]string, len(rows))
	for r, row := range rows {
		for _, text := range row {
			said[r] = append(said[r], s.Language.Text(text))
		}
	}
	return messages.Columns(said, columnGap)
}

func indented(text string) string {
	return indent + strings.ReplaceAll(text, "\n", "\n"+indent)
}

// plain is an argument that a shell takes as it is.
var plain = regexp.MustCompile(`^[-a-zA-Z0-9_./:=,@%+]+$`)

// commandLine of a program, as it is typed in a shell.
func commandLine(name string, args []string) string {
	words := []string{name}
	for _, arg := range args {
		if !plain.MatchString(arg) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
