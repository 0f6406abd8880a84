package bar

import (
	"testing"

	"github.com/charmbracelet/colorprofile"
	"pgregory.net/rapid"

	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/story"
	"koordinator.sh/koord/tui/internal/style"
)

func TestDraw(t *testing.T) {
	p := story.Parts{Capacity: 100, Measured: 1}
	p.Area[style.ProdUsed], p.Area[style.BatchUsed], p.Area[style.System], p.Area[style.BatchFree] = 30, 20, 10, 20
	p.Area[style.ProdReserved] = 20
	st := style.New(style.Appearance{ASCII: true})
	if got, want := Draw(p, 10, st), "###++=..  "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.Measured = 0
	if got, want := Draw(p, 4, st), "~~~~"; got != want {
		t.Errorf("without a measurement: got %q, want %q", got, want)
	}
}

func TestGauge(t *testing.T) {
	st := style.New(style.Appearance{})
	for name, tc := range map[string]struct {
		part, whole int64
		want        string
	}{
		"half":                {50, 100, "██··"},
		"between two cells":   {60, 100, "██▍·"},
		"more than the whole": {300, 100, "████"},
		"nothing":             {0, 100, "····"},
		"of nothing":          {5, 0, "····"},
		"less than nothing":   {-5, 100, "····"},
	} {
		if got := Gauge(tc.part, tc.whole, 4, style.Style{}, style.Style{}, st); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

func TestBarsKeepTheirWidth(t *testing.T) {
	sets := []*style.Set{style.New(style.Appearance{Profile: colorprofile.ANSI}), style.New(style.Appearance{}), style.New(style.Appearance{ASCII: true})}
	rapid.Check(t, func(t *rapid.T) {
		p := story.Parts{Capacity: rapid.Int64().Draw(t, "capacity"), Measured: rapid.IntRange(0, 1).Draw(t, "measured")}
		for i := range p.Area {
			p.Area[i] = rapid.Int64().Draw(t, "area")
		}
		st, width := rapid.SampledFrom(sets).Draw(t, "look"), rapid.IntRange(-2, 120).Draw(t, "width")
		if got := cell.Width(Draw(p, width, st)); got != max(width, 0) {
			t.Fatalf("bar of %d cells, want %d", got, width)
		}
		if got := cell.Width(Gauge(p.Area[0], p.Capacity, width, st.OK, st.Faint, st)); got != max(width, 0) {
			t.Fatalf("gauge of %d cells, want %d", got, width)
		}
	})
}
