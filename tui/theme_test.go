package tui

import (
	"strings"
	"testing"

	"koordinator.sh/koord/tui/internal/style"
)

func TestTheThemeIsChosenByACommand(t *testing.T) {
	for name, tc := range map[string]struct {
		look       style.Appearance
		command    string
		wantTheme  style.Theme
		wantSaid   string
		wantBad    bool
		wantChange bool
	}{
		"another one":              {colourLook, ":theme colorblind", "colorblind", "colorblind: blue, yellow and orange", false, true},
		"the one it has":           {colourLook, ":theme default", "", "default: calm colours", false, false},
		"none, which asks":         {colourLook, ":theme", "", "default: calm colours", false, false},
		"one that is not":          {colourLook, ":theme pink", "", `invalid theme "pink": must be one of default, colorblind, contrast`, true, false},
		"where is no colour":       {plainLook, ":theme contrast", "contrast", "this terminal shows no colours", true, false},
		"with a control character": {colourLook, ":theme \x1b[31m", "", "invalid theme", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 3)
			r.m.st = style.New(tc.look)
			r.start()
			before := r.m.st.Bad
			r.press(tc.command, "enter")
			if r.m.st.Theme != tc.wantTheme || !strings.Contains(r.m.flash.text, tc.wantSaid) || r.m.flash.bad != tc.wantBad {
				t.Errorf("theme %q, says %q (bad: %t)", r.m.st.Theme, r.m.flash.text, r.m.flash.bad)
			}
			if changed := r.m.st.Bad != before; changed != tc.wantChange {
				t.Errorf("what is bad looks different: %t, want %t", changed, tc.wantChange)
			}
		})
	}
}

func TestThemesAreCompleted(t *testing.T) {
	r := newRig(t, 3).start()
	if r.press(":theme co"); !strings.Contains(r.plain(), "colorblind") {
		t.Errorf("no completion:\n%s", r.plain())
	}
}
