package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// unbound are keys that mean nothing on the current page: the letters, digits and signs that it does not use, and keys that nothing uses.
func (r *rig) unbound() []tea.KeyPressMsg {
	var bound []string
	for _, a := range r.m.actions() {
		bound = append(bound, a.Keys()...)
	}
	out := []tea.KeyPressMsg{
		{Code: tea.KeyF5}, {Code: tea.KeyInsert}, {Code: tea.KeyDelete}, {Code: tea.KeyBackspace}, {Code: tea.KeyUp, Mod: tea.ModAlt},
		{Code: 'q', Mod: tea.ModCtrl}, {Code: 'x', Mod: tea.ModAlt}, {Code: 'ö', Text: "ö"}, {Code: '界', Text: "界"},
	}
	for c := '!'; c <= '~'; c++ {
		if !slices.Contains(bound, string(c)) {
			out = append(out, tea.KeyPressMsg{Code: c, Text: string(c)})
		}
	}
	return out
}

// TestKeysThatMeanNothingChangeNothing on any screen and any tab, also while its first answer is awaited and after a failure.
func TestKeysThatMeanNothingChangeNothing(t *testing.T) {
	for name, state := range map[string]state{"loaded": states["loaded"], "loading": states["loading"], "unreachable": states["unreachable"]} {
		t.Run(name, func(t *testing.T) {
			eachScreen(t, func(t *testing.T, screen string) {
				r := state.open(t, screen)
				for tab := range nodeTabs {
					r.m.page().tab = tab
					before, crumbs, due := r.screen(), r.crumbs(), len(r.later)
					keys := r.unbound()
					if len(keys) < 40 {
						t.Fatalf("only %d keys are free", len(keys))
					}
					for _, key := range keys {
						if r.send(key); r.crumbs() != crumbs || r.quit || len(r.later) != due {
							t.Fatalf("tab %d: %s leads to %s", tab, key, r.crumbs())
						}
					}
					if got := r.screen(); got != before {
						t.Fatalf("tab %d: some key changes the screen to\n%s\nbefore it was\n%s", tab, got, before)
					}
				}
			})
		})
	}
}

// lastSort is the key of the current list that sorts by the last of its columns.
func (r *rig) lastSort() string {
	key := ""
	for _, a := range r.m.page().screen.keys {
		if a.group == groupSort {
			key = a.Keys()[0]
		}
	}
	return key
}

// TestBackLeadsToWhereOneWas: the list looks as before it was left, with its cursor, its order, its filter and its width.
func TestBackLeadsToWhereOneWas(t *testing.T) {
	for name, keys := range map[string][]string{
		"another row":            {"j", "j"},
		"the last row":           {"G"},
		"sorted by its last key": {"SORT", "j"},
		"in the opposite order":  {"SORT", "SORT", "G"},
		"a wide list":            {"ctrl+w", "j"},
		"problems only":          {"ctrl+z", "j"},
		"a filter":               {"/0|t", "enter", "j"},
		"a filter that inverts":  {"/!zzzz", "enter", "G"},
	} {
		t.Run(name, func(t *testing.T) {
			eachList(t, func(t *testing.T, screen string) {
				for _, by := range []string{"enter", "d", "y", ":chart", "?"} {
					r := newRig(t, 30).start().openScreen(screen).press("g")
					for _, key := range keys {
						if key == "SORT" {
							key = r.lastSort()
						}
						r.press(key)
					}
					before, crumbs := r.screen(), r.crumbs()
					if r.press(by); by == ":chart" {
						r.press("enter")
					}
					if r.crumbs() == crumbs {
						t.Fatalf("%s leads nowhere", by)
					}
					if r.press("esc"); r.screen() != before {
						t.Errorf("back from %s it is\n%s\nbefore it was\n%s", by, r.screen(), before)
					}
				}
			})
		})
	}
}

// TestBackLeadsToTheLineOneWasAt of a text, unfolded as it was.
func TestBackLeadsToTheLineOneWasAt(t *testing.T) {
	scrolled := 0
	screensWith(t, explains, func(t *testing.T, name string) {
		r := newRig(t, 30).start().openScreen(name)
		if name != describeName && name != yamlName {
			r.press("enter") // of those two it opens the explanation
		}
		r.press("j", "j", "j")
		before, scroll := r.screen(), r.m.page().scroll
		scrolled += scroll
		for _, by := range [][]string{{":chart", "enter"}, {":describe gang ml/tune", "enter", "G"}, {"?"}} {
			r.press(by...)
			if r.press("esc"); r.screen() != before || r.m.page().scroll != scroll {
				t.Errorf("back from %q it is\n%s\nbefore it was\n%s", by, r.screen(), before)
			}
		}
	})
	if scrolled < 3*3 {
		t.Errorf("%d lines scrolled, want 3 on three screens and more", scrolled)
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
