package picture

import (
	"image/color"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/google/go-cmp/cmp"
)

func TestColoursAndLooks(t *testing.T) {
	tests := map[string]struct {
		printed        string
		wantFg, wantBg color.RGBA
		wantLook       look
	}{
		"nothing set":              {"x", ink, paper, look{}},
		"one of 16 colours":        {"\x1b[31mx", palette[1], paper, look{}},
		"a bright one behind":      {"\x1b[102mx", ink, palette[10], look{}},
		"one of 16 by its index":   {"\x1b[38;5;9mx", palette[9], paper, look{}},
		"one of 256 colours":       {"\x1b[38;5;117mx", rgb(ansi.IndexedColor(117)), paper, look{}},
		"true colour behind":       {"\x1b[48;2;1;2;3mx", ink, color.RGBA{1, 2, 3, 0xff}, look{}},
		"reversed":                 {"\x1b[31;7mx", paper, palette[1], look{reversed: true}},
		"faint is half as bright":  {"\x1b[2mx", color.RGBA{0x73, 0x78, 0x7e, 0xff}, paper, look{faint: true}},
		"bold, italic, underlined": {"\x1b[1;3;4mx", ink, paper, look{bold: true, italic: true, underline: true}},
		"struck":                   {"\x1b[9mx", ink, paper, look{strike: true}},
		"reset":                    {"\x1b[1;31;7m\x1b[mx", ink, paper, look{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			terminal := vt.NewEmulator(4, 1)
			terminal.WriteString(test.printed)
			got := take(terminal)[0][0]
			fg, bg := got.colors()
			got.fg, got.bg = nil, nil
			if got.text != "x" || fg != test.wantFg || bg != test.wantBg || got.look != test.wantLook {
				t.Errorf("cell = %+v in %v on %v, want %+v in %v on %v", got, fg, bg, test.wantLook, test.wantFg, test.wantBg)
			}
		})
	}
}

func rgb(c color.Color) color.RGBA {
	r, g, b, _ := c.RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff}
}

func TestTheCursorIsShownUnlessItIsHidden(t *testing.T) {
	tests := map[string]struct {
		printed string
		want    []bool
	}{
		"after what was printed": {"ab", []bool{false, false, true}},
		"hidden":                 {"ab\x1b[?25l", []bool{false, false, false}},
		"on reversed text":       {"\x1b[7mab\x1b[D", []bool{true, false, false}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			terminal := vt.NewEmulator(3, 1)
			terminal.WriteString(test.printed)
			var got []bool
			for _, c := range take(terminal)[0] {
				got = append(got, c.reversed)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("reversed cells (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBlocksFillTheirPart(t *testing.T) {
	tests := map[rune]box{'█': {0, 0, 1, 1}, '▁': {0, 0.875, 1, 0.125}, '▄': {0, 0.5, 1, 0.5}, '▏': {0, 0, 0.125, 1}, '▉': {0, 0, 0.875, 1}}
	for r, want := range tests {
		got, opacity := shape(r)
		if len(got) != 1 || got[0] != want || opacity != 1 {
			t.Errorf("shape(%q) = %v at %v, want %v at 1", r, got, opacity, want)
		}
	}
}

func TestWordsOfALine(t *testing.T) {
	tests := map[string]struct {
		printed string
		want    []string
	}{
		"empty":                          {"", nil},
		"words of one look":              {"a word", []string{"a word"}},
		"columns stay where they are":    {"a  b", []string{"a", "b"}},
		"looks are apart":                {"a\x1b[1mb", []string{"a", "b"}},
		"a block is no text":             {"a█b", []string{"a", "b"}},
		"a wide character and its right": {"批k", []string{"批", "k"}},
		"a symbol from another font":     {"✓ ok", []string{"✓", "ok"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			terminal := vt.NewEmulator(12, 1)
			terminal.WriteString("\x1b[?25l" + test.printed)
			line := take(terminal)[0]
			var got []string
			for i := 0; i < len(line); {
				n := word(line[i:])
				if n > 0 {
					got = append(got, text(line[i:i+n]))
				}
				i += max(n, 1)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("words (-want +got):\n%s", diff)
			}
		})
	}
}
