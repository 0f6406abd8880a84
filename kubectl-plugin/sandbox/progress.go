package sandbox

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"koordinator.sh/koord/sandbox/control"
)

// remindEvery is how often a long wait is mentioned where the line cannot be redrawn.
const remindEvery = 10 * time.Second

// progress narrates a start: each step when it is done, and on a terminal the one that is waited for, redrawn in place.
type progress struct {
	out      io.Writer
	terminal bool
	now      func() time.Time
	started  time.Time
	done     map[string]bool
	drawn    bool
	reminded time.Time
}

// newProgress starts to count now.
func newProgress(out io.Writer, terminal bool, now func() time.Time) *progress {
	started := now()
	return &progress{out: out, terminal: terminal, now: now, started: started, reminded: started, done: map[string]bool{}}
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
			fmt.Fprintf(p.out, "  done  %-44s %6s\n", step.Name, took(step))
		}
	}
	var waits []string
	for _, step := range status.Steps {
		if step.Phase == control.Running {
			waits = append(waits, strings.TrimSpace(step.Name+" "+step.Detail))
		}
	}
	if len(waits) > 0 {
		p.waiting(strings.Join(waits, ", "))
	}
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
		fmt.Fprintf(p.out, "  wait  %.60s  %s", what, elapsed)
		p.drawn = true
		return
	}
	if now := p.now(); now.Sub(p.reminded) >= remindEvery {
		p.reminded = now
		fmt.Fprintf(p.out, "  wait  %s (%s so far)\n", what, elapsed.Round(time.Second))
	}
}

// clear takes back the line that is redrawn.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.drawn = false
	}
}
