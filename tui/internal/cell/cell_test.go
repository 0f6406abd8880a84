package cell

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for name, tc := range map[string]struct{ got, want string }{
		"short text is padded":            {Left("ab", 4, "…"), "ab  "},
		"long text is cut":                {Left("abcdef", 4, "…"), "abc…"},
		"padded on the left":              {Right("7", 3, "…"), "  7"},
		"wide runes count twice":          {Left("界界界", 5, "…"), "界界…"},
		"styles do not count":             {Left("\x1b[1mab\x1b[m", 4, "…"), "\x1b[1mab\x1b[m  "},
		"no room":                         {Truncate("abc", 0, "…"), ""},
		"less than no room":               {Truncate("abc", -3, "…"), ""},
		"two ends":                        {Spread("ab", "cd", 8, "…"), "ab    cd"},
		"the right end is cut":            {Spread("ab", "0123456789", 11, "…"), "ab 0123456…"},
		"or dropped":                      {Spread("abcdef", "0123456789", 10, "…"), "abcdef    "},
		"both ends of a name are kept":    {Middle("executor-00017", 10, "…"), "execut…017"},
		"a name that fits is whole":       {Middle("executor-1", 10, "…"), "executor-1"},
		"no room for two ends":            {Middle("executor-17", 7, "…"), "execut…"},
		"both ends in styles":             {ansi.Strip(Middle("\x1b[1mexecutor-00017\x1b[m", 10, "…")), "execut…017"},
		"control characters become blank": {Clean("a\x1b[2J\nb"), "a [2J b"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %q, want %q", name, tc.got, tc.want)
		}
	}
}

func FuzzFit(f *testing.F) {
	f.Add("界\x1b[31mab", 3)
	f.Add("\u0603", 19)
	f.Add("e\u0301\u200d👩‍👩‍👧", 2)
	f.Fuzz(func(t *testing.T, text string, width int) {
		if !utf8.ValidString(text) || width > 500 {
			return
		}
		clean := Clean(text)
		if got := Width(Left(clean, width, "…")); got != max(width, 0) {
			t.Fatalf("%q in %d cells takes %d", clean, width, got)
		}
	})
}

// TestQuickWidthAgrees compares the short cut with the library on texts made of what it knows and what it does not.
func TestQuickWidthAgrees(t *testing.T) {
	pieces := []string{"a", " ", "█", "╌", "…", "·", "●", "◌", "◐", "◆", "▲", "▶", "↑", "↓", "→", "✓", "✗", "−", "×", "≤", "≥", "\ufe0f", "\u200d", "界", "e\u0301", "\x1b[1m", "\x1b[38;2;1;2;3m", "\x1b[m", "\x1b]0;t\a", "\x1b[2J"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		if got, want := Width(text), ansi.StringWidth(text); got != want {
			t.Fatalf("%q takes %d, want %d", text, got, want)
		}
	})
}

func TestWrapStaysInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 60).Draw(t, "width")
		for _, line := range Wrap(rapid.StringMatching(`[a-z -]{0,120}`).Draw(t, "text"), width) {
			if Width(line) > width {
				t.Fatalf("line %q is wider than %d", line, width)
			}
		}
	})
}

func TestFoldKeepsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := Clean(rapid.StringOfN(rapid.RuneFrom([]rune("ab -:é世")), 0, 60, -1).Draw(t, "text"))
		width := rapid.IntRange(4, 30).Draw(t, "width")
		indent := rapid.IntRange(0, width/2).Draw(t, "indent")
		var back string
		for i, line := range Fold(text, width, indent) {
			if Width(line) > width {
				t.Fatalf("line %q is wider than %d", line, width)
			}
			if i > 0 {
				line = line[indent:]
			}
			back += line
		}
		if back != text {
			t.Fatalf("got %q back, want %q", back, text)
		}
	})
}

// TestMiddleKeepsBothEnds of any text, and stays inside.
func TestMiddleKeepsBothEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab-é世界")), 0, 60, -1).Draw(t, "text")
		width := rapid.IntRange(-1, 70).Draw(t, "width")
		got := Middle(text, width, "…")
		if Width(got) > max(width, 0) {
			t.Fatalf("%q is wider than %d", got, width)
		}
		first, last, cut := strings.Cut(got, "…")
		if !cut && got != text && width > 0 || cut && (!strings.HasPrefix(text, first) || !strings.HasSuffix(text, last)) {
			t.Fatalf("%q is cut to %q", text, got)
		}
		if cut && width >= 12 && Width(last) < 3 {
			t.Fatalf("of %q no end is left in %q", text, got)
		}
	})
}
