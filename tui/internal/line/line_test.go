package line

import (
	"testing"

	"pgregory.net/rapid"
)

func TestEditor(t *testing.T) {
	for name, tc := range map[string]struct {
		start string
		keys  []string
		want  string
		at    int
	}{
		"backspace":                {"node", []string{"backspace"}, "nod", 3},
		"delete at the start":      {"node", []string{"home", "delete"}, "ode", 0},
		"a word":                   {"explain shop/web", []string{"ctrl+w"}, "explain ", 8},
		"a word behind spaces":     {"explain   ", []string{"ctrl+w"}, "", 0},
		"everything before":        {"node a", []string{"left", "ctrl+u"}, "a", 0},
		"everything behind":        {"node a", []string{"ctrl+a", "right", "ctrl+k"}, "n", 1},
		"nothing beyond the edges": {"a", []string{"right", "end", "home", "left", "backspace"}, "a", 0},
		"runes, not bytes":         {"größe", []string{"left", "left", "backspace"}, "grße", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var e Editor
			e.Set(tc.start)
			for _, k := range tc.keys {
				if !e.Press(k) {
					t.Fatalf("key %q does nothing", k)
				}
			}
			if e.Value() != tc.want || e.Position() != tc.at {
				t.Errorf("got %q at %d, want %q at %d", e.Value(), e.Position(), tc.want, tc.at)
			}
		})
	}
}

func TestInsertKeepsTheRest(t *testing.T) {
	var e Editor
	e.Set("ab")
	e.Press("left")
	e.Insert("x\ty\n\x1b")
	if e.Value() != "ax y b" {
		t.Errorf("got %q", e.Value())
	}
}

func TestCursorStaysInTheLine(t *testing.T) {
	keys := []string{"left", "right", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k", "x"}
	rapid.Check(t, func(t *rapid.T) {
		var e Editor
		for range rapid.IntRange(0, 60).Draw(t, "n") {
			if rapid.Bool().Draw(t, "type") {
				e.Insert(rapid.String().Draw(t, "text"))
			} else {
				e.Press(rapid.SampledFrom(keys).Draw(t, "key"))
			}
			if n := len([]rune(e.Value())); e.Position() < 0 || e.Position() > n || n > MaxRunes {
				t.Fatalf("cursor %d in %d runes", e.Position(), n)
			}
		}
	})
}
