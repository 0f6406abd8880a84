package tui

import (
	"testing"

	"pgregory.net/rapid"
)

// TestTheLayoutIsTheTerminal: the parts stand below one another, and together they are all of it.
func TestTheLayoutIsTheTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(-2, 300).Draw(t, "width"), rapid.IntRange(-2, 120).Draw(t, "height")
		f := layout(width, height, parts{summary: rapid.IntRange(0, 4).Draw(t, "summary"), menu: rapid.IntRange(0, 1).Draw(t, "menu")})
		y := 0
		for _, r := range []rect{f.header, f.summary, f.title, f.body, f.status, f.menu} {
			if r.h < 0 || r.w != max(width, 0) || r.y != y {
				t.Fatalf("a part is at %d with %dx%d, want it at %d with the width %d: %+v", r.y, r.w, r.h, y, width, f)
			}
			y += r.h
		}
		if y != max(height, 0) {
			t.Fatalf("the parts have %d lines together, want %d: %+v", y, height, f)
		}
	})
}

// TestTheSummaryHasALegendWhereThereIsRoom, and is on the screens that declare it only.
func TestTheSummaryHasALegendWhereThereIsRoom(t *testing.T) {
	eachScreen(t, func(t *testing.T, name string) {
		for height, wantLines := range map[int]int{24: 2, 31: 2, 32: 4, 60: 4} {
			r := newRig(t, 30).start().openScreen(name)
			r.resize(120, height)
			if !r.m.page().screen.summary {
				wantLines = 0
			}
			if got := r.m.frame().summary.h; got != wantLines {
				t.Errorf("%d lines of summary in %d, want %d", got, height, wantLines)
			}
		}
	})
}

// TestResizingKeepsWhatIsSelected, through a size that shows nothing.
func TestResizingKeepsWhatIsSelected(t *testing.T) {
	eachScreen(t, func(t *testing.T, name string) {
		r := newRig(t, 30).start().openScreen(name).press("j", "j", "j")
		before, text, scrolled := r.seen(), r.screen(), r.m.page().scroll
		for _, size := range [][2]int{{160, 50}, {20, 5}, {0, 0}, {81, 25}, {80, 24}} {
			r.resize(size[0], size[1])
			r.m.draw()
		}
		if got := r.seen(); got != before {
			t.Errorf("%+v after resizing, want %+v", got, before)
		}
		if r.m.page().scroll < scrolled && r.m.table() == nil {
			return // of a text, a larger terminal shows the end from further up
		}
		if got := r.screen(); got != text {
			t.Errorf("the screen is not as it was:\n%s\nbefore:\n%s", got, text)
		}
	})
}
