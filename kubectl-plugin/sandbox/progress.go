package sandbox

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"koordinator.sh/koord/sandbox/control"
)

const (
	// remindEvery is how often a long wait is mentioned where the line cannot be redrawn.
	remindEvery = 10 * time.Second
	// stepWidth is the width of a step that is done, in cells.
	stepWidth = 44
	// longestWait is how much of what is waited for a redrawn line has, in cells.
	longestWait = 60
)

// progress narrates a start: each step when it is done, and on a terminal the one that is waited for, redrawn in place.
type progress struct {
	out      io.Writer
	say      func(english string) string
	terminal bool
	now      func() time.Time
	started  time.Time
	done     map[string]bool
	drawn    bool
	reminded time.Time
}

// newProgress starts to count now, and narrates on standard error.
func (c *console) newProgress(terminal bool, now func() time.Time) *progress {
	started := now()
	return &progress{out: c.ErrOut, say: c.say, terminal: terminal, now: now, started: started, reminded: started, done: map[string]bool{}}
}

// isTerminal reports whether a stream can be redrawn.
func isTerminal(out io.Writer) bool {
	file, ok := out.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(file.Fd())
}

// show prints what is new in a status.
func (p *progress) show(status *control.Status) {
	for _, step := range status.Steps {
		if step.Phase == control.Done && !p.done[step.Name] {
			p.clear()
			p.done[step.Name] = true
			fmt.Fprintf(p.out, "  %s  %s %6s\n", p.say("done"), padded(p.say(step.Name)), took(step))
		}
	}
	var waits []string
	for _, step := range status.Steps {
		if step.Phase == control.Running {
			waits = append(waits, strings.TrimSpace(p.say(step.Name)+" "+p.say(step.Detail)))
		}
	}
	if len(waits) > 0 {
		p.waiting(strings.Join(waits, ", "))
	}
}

// padded fills the name of a step, of which a Chinese character takes two cells.
func padded(name string) string {
	return name + strings.Repeat(" ", max(stepWidth-ansi.StringWidth(name), 0))
}

// took is how long a step that is done needed.
func took(step control.Step) time.Duration {
	if step.StartedAt == nil || step.EndedAt == nil {
		return 0
	}
	return step.EndedAt.Sub(*step.StartedAt).Round(100 * time.Millisecond)
}

// elapsed since the start, in tenths of a second.
func (p *progress) elapsed() time.Duration {
	return p.now().Sub(p.started).Round(100 * time.Millisecond)
}

func (p *progress) waiting(what string) {
	elapsed := p.elapsed()
	if p.terminal {
		p.clear()
		fmt.Fprintf(p.out, "  %s  %s  %s", p.say("wait"), ansi.Truncate(what, longestWait, ""), elapsed)
		p.drawn = true
		return
	}
	if now := p.now(); now.Sub(p.reminded) >= remindEvery {
		p.reminded = now
		fmt.Fprintf(p.out, "  %s  %s %s\n", p.say("wait"), what, p.say(fmt.Sprintf("(%s so far)", elapsed.Round(time.Second))))
	}
}

// clear takes back the line that is redrawn.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}
