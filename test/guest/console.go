package guest

import (
	"strconv"
	"strings"
)

// Report is what a guest's console shows.
type Report struct {
	// Finished is true when the guest came to the end of its plan, and Broken why it could not begin.
	Finished bool
	Broken   string
	Programs []Result
}

// Result of one program.
type Result struct {
	// Ended is how it ended: Passed, or what went wrong.
	Ended string
	// Output is all that was on the console while it ran.
	Output string
	// Tests are the results that Go's tests print, by the test's name: PASS, FAIL or SKIP.
	Tests map[string]string
}

// ParseConsole reads a console on which any number of programs of a plan were run. Those that were not have an empty Ended.
func ParseConsole(console string, programs int) Report {
	report := Report{Programs: make([]Result, programs)}
	for i := range report.Programs {
		report.Programs[i] = Result{Ended: "not run", Tests: map[string]string{}}
	}
	var running *Result
	for line := range strings.Lines(console) {
		line = strings.TrimRight(line, "\r\n")
		words, isOwn := strings.CutPrefix(line, Marker)
		if !isOwn {
			running.take(line)
			continue
		}
		word, rest, _ := strings.Cut(words, " ")
		number, how, _ := strings.Cut(rest, " ")
		i, err := strconv.Atoi(number)
		known := err == nil && i >= 0 && i < programs
		switch {
		case word == Started && known:
			running = &report.Programs[i]
			running.Ended = "still running when the guest ended"
		case word == Ended && known:
			report.Programs[i].Ended, running = how, nil
		case word == Broken:
			report.Broken = rest
		case word == Finished:
			report.Finished = true
		}
	}
	return report
}

// take adds a line to what a program printed; nil takes none.
func (r *Result) take(line string) {
	if r == nil {
		return
	}
	r.Output += line + "\n"
	for _, result := range []string{"PASS", "FAIL", "SKIP"} {
		if name, found := strings.CutPrefix(strings.TrimLeft(line, " "), "--- "+result+": "); found {
			name, _, _ = strings.Cut(name, " (")
			r.Tests[name] = result
		}
	}
}
