// Package journey declares what the recordings in the documentation show: a file for each, with a line in All.
package journey

import (
	"regexp"
	"time"
)

// Journey is a session of a person with a question.
type Journey struct {
	// Name of its files in docs/recordings.
	Name string
	// Title of the window, which is also what is read out instead of the picture.
	Title string
	// Columns and Rows are the size of the terminal.
	Columns, Rows int
	// Objects are what is created before, besides what the sandbox has: a manifest.
	Objects string
	// Ready is what the cluster must have come to before it begins.
	Ready []Condition
	Steps []Step
}

// Condition is a command of koordctl that prints what matches once something is so.
type Condition struct {
	Command []string
	Output  *regexp.Regexp
}

// Step is something typed, and the answer.
type Step struct {
	Keys string
	// Texts are what the screen shows when the answer is complete.
	Texts []string
	// Shell is true if the step is a command, which is complete when the shell waits for the next.
	Shell bool
	// Read is how long the answer is shown.
	Read time.Duration
}

// All are the journeys in the order in which they are recorded, on one cluster: those that change something come last.
func All() []Journey {
	return []Journey{batch(), tui(), why(), quota(), config()}
}

// atWork is when nodes offer what services leave and batch pods have taken of it; while pods are measured for the first time, there is little
// to show.
func atWork() []Condition {
	return []Condition{{
		Command: []string{"top", "nodes"},
		Output:  regexp.MustCompile(`offered to batch (1[5-9]|2)\d+(\.\d+)?, requested (8|9|1\d)\d(\.\d+)?; 1 hot`),
	}}
}

// run is a command, and how long its answer is read.
func run(command string, read time.Duration, texts ...string) Step {
	return Step{Keys: command + "\r", Texts: texts, Shell: true, Read: read}
}

// press is keys typed into a program that goes on running.
func press(keys string, read time.Duration, texts ...string) Step {
	return Step{Keys: keys, Texts: texts, Read: read}
}
