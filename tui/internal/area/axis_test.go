package area

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"koordinator.sh/koord/tui/internal/history"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

// TestTheAxisNamesWhatWasRecorded, left of where the chart was opened, and what was seen live, as far as the words have room.
func TestTheAxisNamesWhatWasRecorded(t *testing.T) {
	for name, tc := range map[string]struct {
		width, recorded int
		want            string
	}{
		"nothing was recorded":          {20, 0, "└" + strings.Repeat("─", 19) + "┬"},
		"both have room":                {30, 15, "└──── recorded ─┬ live ───────┬"},
		"little is live":                {30, 27, "└─────────┬────── recorded ─┬─┬"},
		"little was recorded":           {30, 5, "└─────┬ live ─────────────────┬"},
		"all was recorded":              {20, 20, "└───────── recorded ┬"},
		"as much as the word":           {21, 11, "└ recorded ─┬ live ──┬"},
		"one column less than the word": {20, 10, "└──────────┬ live ──┬"},
		"more than the chart has":       {10, 12, "└─────────┬"},
	} {
		t.Run(name, func(t *testing.T) {
			c := Chart{Points: make([]history.Point, tc.width), Recorded: tc.recorded, Step: time.Second, Unit: quantity.Cores}
			got := strings.TrimLeft(ansi.Strip(c.timeAxis(style.New(style.Appearance{}))), " ")
			if got != tc.want {
				t.Errorf("axis\n%s, want\n%s", got, tc.want)
			}
		})
	}
}

// TestTheTimesBelowTheAxis stand below their ticks and do not run into each other.
func TestTheTimesBelowTheAxis(t *testing.T) {
	for name, tc := range map[string]struct {
		width int
		step  time.Duration
		want  string
	}{
		"seconds":                {45, 2 * time.Second, "-1m20s -40s now"},
		"minutes":                {45, 30 * time.Second, "-20m -10m now"},
		"hours":                  {45, 12 * time.Minute, "-8h -4h0m now"},
		"parts of seconds":       {25, 100 * time.Millisecond, "-2s now"},
		"a chart of few columns": {19, time.Second, "now"},
	} {
		t.Run(name, func(t *testing.T) {
			c := Chart{Points: make([]history.Point, tc.width), Step: tc.step, Unit: quantity.Cores}
			line := ansi.Strip(c.timeLabels(style.New(style.Appearance{})))
			if got := strings.Join(strings.Fields(line), " "); got != tc.want {
				t.Errorf("times %q, want %q", got, tc.want)
			}
			if ansi.StringWidth(line) != AxisWidth+tc.width || !strings.HasSuffix(line, "now") {
				t.Errorf("%d cells, want %d that end in now: %q", ansi.StringWidth(line), AxisWidth+tc.width, line)
			}
		})
	}
}
