package tui

import "testing"

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
					if !r.leadsOn() && (by == "d" || by == "y") {
						continue
					}
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
