package tui

import (
	"slices"
	"testing"

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
