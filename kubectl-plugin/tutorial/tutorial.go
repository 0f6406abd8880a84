package tutorial

import (
	"context"
	"strings"
)

// Tutorial is a story with a real engine, in steps.
type Tutorial struct {
	// Name is the argument of `koordctl tutorial`, and that of the page.
	Name string
	// Aliases are other arguments that mean it.
	Aliases []string
	// Title is the heading of the page.
	Title string
	// Short is one line of the list of tutorials.
	Short string
	// Intro says what one will see, and what it takes. Paragraphs are separated by an empty line.
	Intro string
	// Programs that must be found on the PATH, beside kubectl.
	Programs []string
	// Steps in their order. They may share state: a tutorial is made anew for each run.
	Steps []Step
}

// Step is one thing to do and to look at. Do and Holds act by the methods of the Session, which print what they run.
type Step struct {
	// Title is a heading: a few words.
	Title string
	// Text says what the step does and what to look at, before it is done. Paragraphs are separated by an empty line.
	Text string
	// Do carries the step out; nil where there is nothing to do.
	Do func(context.Context, *Session) error
	// Seen says what one sees after it, with the figures of this run; nil for nothing beyond what the commands printed.
	Seen func() string
	// Holds returns an error unless what the step is to show holds; nil where Do is enough. It is asked after Do.
	Holds func(context.Context, *Session) error
}

// Record is what a run has shown.
type Record struct {
	Tutorial
	// Done are the steps that were carried out, the last one perhaps in part.
	Done []Done
}

// Done is a step that was carried out.
type Done struct {
	Title, Text string
	// Ran are the commands that were printed, in order.
	Ran []Ran
	// Table is what Session.Table printed: rows, the first of which has the headings.
	Table [][]string
	// Seen is what Step.Seen returned.
	Seen string
}

// Ran is a command that was run, as a reader types it.
type Ran struct {
	// Line is the command, perhaps with a document of several lines that it reads.
	Line string
	// Output is its standard output.
	Output string
}

// paragraphs of a text, each on one line.
func paragraphs(text string) []string {
	var out []string
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if paragraph = strings.Join(strings.Fields(paragraph), " "); paragraph != "" {
			out = append(out, paragraph)
		}
	}
	return out
}
