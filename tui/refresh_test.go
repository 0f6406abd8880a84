package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// underCursor is the line of the table that the cursor is on, without styles; empty where no row is marked.
func (r *rig) underCursor() string {
	r.t.Helper()
	for _, line := range r.lines() {
		if text := ansi.Strip(line); strings.HasPrefix(text, r.m.st.Cursor) {
			return text
		}
	}
	return ""
}

// refreshed lets a refresh bring lists without objects, or with them again.
func (r *rig) refreshed(a *arranged, empty bool) {
	a.empty = empty
	r.reload(3 * time.Second)
}

// TestTheCursorStaysOnItsRowThroughARefresh that changes the order of the rows, or what is above it.
func TestTheCursorStaysOnItsRowThroughARefresh(t *testing.T) {
	for name, change := range map[string]func(a *arranged, before string){
		"the rows come in the opposite order": func(a *arranged, _ string) { a.reversed = true },
		"the row before is gone":              func(a *arranged, before string) { a.gone = before },
		"both":                                func(a *arranged, before string) { a.reversed, a.gone = true, before },
	} {
		t.Run(name, func(t *testing.T) {
			eachList(t, func(t *testing.T, screen string) {
				r, a := rearrangeable(t)
				r.start().openScreen(screen).press("g", "j")
				before := r.selectedKey()
				r.press("j")
				want, line := r.selectedKey(), r.underCursor()
				change(a, before)
				r.reload(3 * time.Second)
				if got := r.selectedKey(); got != want {
					t.Errorf("the cursor goes from %s to %s", want, got)
				}
				if got := strings.Fields(r.underCursor())[0]; got != strings.Fields(line)[0] {
					t.Errorf("the marked line begins with %q, before it was %q", got, line)
				}
			})
		})
	}
}

// TestTheNeighbourTakesTheCursorOfARowThatVanishes: the row that moves up into its place, and at the end the one before.
func TestTheNeighbourTakesTheCursorOfARowThatVanishes(t *testing.T) {
	for name, tc := range map[string]struct {
		keys []string
		// from and to are places among the rows of which the first vanishes and the other has the cursor then.
		from, to int
	}{
		"the first row":   {[]string{"g"}, 0, 1},
		"the second row":  {[]string{"g", "j"}, 1, 2},
		"the last row":    {[]string{"G"}, -1, -2},
		"from the bottom": {[]string{"G", "k"}, -2, -1},
	} {
		t.Run(name, func(t *testing.T) {
			eachList(t, func(t *testing.T, screen string) {
				if screen == configName {
					return // its rows are the settings that there are, of which none vanishes
				}
				r, a := rearrangeable(t)
				r.start().openScreen(screen)
				gone, want := r.keyAt(tc.from), r.keyAt(tc.to)
				r.press(tc.keys...)
				if got := r.selectedKey(); got != gone {
					t.Fatalf("%q lead to %s, want %s", tc.keys, got, gone)
				}
				a.gone = gone
				r.reload(3 * time.Second)
				if got := r.selectedKey(); got != want {
					t.Errorf("%s vanishes and the cursor is on %s, want %s", gone, got, want)
				}
				if r.underCursor() == "" {
					t.Error("no line is marked")
				}
				if !r.leadsOn() {
					return
				}
				r.press("d")
				if got, about := r.m.page().screen.name, r.m.page().about.key(); got != describeName || about != want {
					t.Errorf("d opens %s of %s", got, about)
				}
			})
		})
	}
}

// TestAListWhoseRowsAllVanish says so, and its keys do nothing.
func TestAListWhoseRowsAllVanish(t *testing.T) {
	eachList(t, func(t *testing.T, name string) {
		r, a := rearrangeable(t)
		r.start().openScreen(name).press("g", "j", "j")
		crumbs := r.crumbs()
		r.refreshed(a, true)
		what, _ := r.m.table().empty()
		empty := r.plain()
		says(t, empty, []string{"[0]", what}, []string{"error:", "loading"})
		for _, action := range r.m.page().screen.keys {
			key := action.Keys()[0]
			if key == "0" || key == "f" || key == "m" {
				continue // they open another list, whatever is under the cursor
			}
			if r.press(key); r.crumbs() != crumbs || r.m.flash.bad {
				t.Errorf("%s leads to %s and says %q, and there is no row", key, r.crumbs(), r.m.flash.text)
			}
		}
	})
}

// TestTheCursorComesBackWithItsRow: a list that was empty for a moment, as while a cache fills, is read on where it was.
func TestTheCursorComesBackWithItsRow(t *testing.T) {
	eachList(t, func(t *testing.T, name string) {
		r, a := rearrangeable(t)
		r.start().openScreen(name).press("g", "j", "j")
		want := r.selectedKey()
		r.refreshed(a, true)
		r.refreshed(a, false)
		if got := r.selectedKey(); got != want {
			t.Errorf("the cursor is on %s, it was on %s", got, want)
		}
	})
}

// TestAFilterThatMatchesNothingKeepsTheCursor: without it the cursor is where it was.
func TestAFilterThatMatchesNothingKeepsTheCursor(t *testing.T) {
	for name, keys := range map[string][]string{
		"while it is typed":       {"/~~~~", "esc"},
		"once it was applied":     {"/~~~~", "enter", "esc"},
		"after another refresh":   {"/~~~~", "enter", "ctrl+r", "esc"},
		"through another, longer": {"/~~~~", "enter", "/@@@@", "enter", "esc"},
	} {
		t.Run(name, func(t *testing.T) {
			eachList(t, func(t *testing.T, screen string) {
				r := newRig(t, 30).start().openScreen(screen).press("g", "j", "j")
				want := r.selectedKey()
				if r.press(keys[0]); r.m.table().Len() != 0 || r.selectedKey() != "" {
					t.Fatalf("%s keeps %d rows", keys[0], r.m.table().Len())
				}
				if got := r.press(keys[1:]...).selectedKey(); got != want || r.m.table().Filter() != "" {
					t.Errorf("the cursor is on %s, it was on %s; the filter is %q", got, want, r.m.table().Filter())
				}
			})
		})
	}
}

// TestARefreshLeavesATextWhereItIs: what is read must not move away every few seconds.
func TestARefreshLeavesATextWhereItIs(t *testing.T) {
	scrolled := 0
	screensWith(t, explains, func(t *testing.T, name string) {
		r := newRig(t, 30).start().openScreen(name).press("enter")
		r.m.pages = r.m.pages[:2] // enter may have led to another page
		r.press("j", "j")
		scroll, unfolded := r.m.page().scroll, r.m.page().unfolded
		r.pass(7 * time.Second)
		if got := r.m.page(); got.scroll != scroll || got.unfolded != unfolded {
			t.Errorf("scrolled to %d, unfolded %t; before %d, %t", got.scroll, got.unfolded, scroll, unfolded)
		}
		if text := r.plain(); !strings.Contains(text, "s ago") {
			t.Errorf("nothing says how old it is:\n%s", text)
		}
		scrolled += scroll
	})
	if scrolled < 2*3 {
		t.Errorf("%d lines scrolled, want 2 on three screens and more", scrolled)
	}
}
