package area

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/history"
	"koordinator.sh/koord/tui/internal/quantity"
	"koordinator.sh/koord/tui/internal/style"
)

func point(capacity float32, areas ...float32) history.Point {
	p := history.Point{Capacity: capacity}
	copy(p.Area[:], areas)
	return p
}

var gap = history.Point{Capacity: float32(math.NaN())}

func TestDrawPatterns(t *testing.T) {
	c := Chart{Step: time.Second, Unit: quantity.Cores, Points: []history.Point{gap, point(8000, 2000, 2000), point(8000, 4000, 0, 2000)}}
	got := c.Draw(6, style.New(style.Appearance{ASCII: true}))
	want := []string{
		"  8.32 + ~~",
		"       |  %",
		"       | -#",
		"     0 + ##",
		"       +--+",
		"        now",
	}
	for i := range got {
		got[i] = ansi.Strip(got[i])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected chart (-want +got):\n%s", diff)
	}
}

func TestDrawUsesEighths(t *testing.T) {
	st := style.New(style.Appearance{Profile: colorprofile.TrueColor})
	c := Chart{Step: time.Second, Unit: quantity.Cores, Points: []history.Point{point(1000, 600)}}
	if got := strings.Join(c.Draw(6, st), "\n"); !strings.Contains(got, "▁") && !strings.Contains(got, "▂") {
		t.Errorf("no partial block in\n%s", got)
	}
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		2500 * time.Millisecond: "2.5s", 40 * time.Second: "40s", 80 * time.Second: "1m20s", 2 * time.Minute: "2m", 3 * time.Hour: "3h0m",
	} {
		if got := ago(d); got != want {
			t.Errorf("%s: got %q, want %q", d, got, want)
		}
	}
}

func TestDrawKeepsItsSize(t *testing.T) {
	sets := []*style.Set{style.New(style.Appearance{Profile: colorprofile.TrueColor}), style.New(style.Appearance{}), style.New(style.Appearance{ASCII: true})}
	rapid.Check(t, func(t *rapid.T) {
		c := Chart{Step: time.Second, Unit: quantity.Bytes, Points: make([]history.Point, rapid.IntRange(0, 80).Draw(t, "width"))}
		for i := range c.Points {
			c.Points[i] = gap
			if rapid.Bool().Draw(t, "known") {
				c.Points[i] = point(rapid.Float32Range(0, 1e15).Draw(t, "capacity"), rapid.Float32Range(0, 1e15).Draw(t, "a"), rapid.Float32Range(0, 1e15).Draw(t, "b"))
			}
		}
		height := rapid.IntRange(-1, 30).Draw(t, "height")
		lines := c.Draw(height, rapid.SampledFrom(sets).Draw(t, "look"))
		if len(lines) != 0 && len(lines) != height {
			t.Fatalf("%d lines, want %d", len(lines), height)
		}
		for _, line := range lines {
			if w := cell.Width(line); w != AxisWidth+len(c.Points) {
				t.Fatalf("line of %d cells, want %d: %q", w, AxisWidth+len(c.Points), line)
			}
		}
	})
}
