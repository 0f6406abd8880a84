package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestPictureOfACapture(t *testing.T) {
	out := filepath.Join(t.TempDir(), "looks.svg")
	if err := run("testdata/looks.ansi", out, `a "window" & <title>`); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, got)
	golden := "testdata/looks.golden.svg"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("picture (-want +got):\n%s", diff)
	}
}

func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
	}
}

func TestLooks(t *testing.T) {
	tests := map[string]struct {
		capture string
		want    look
	}{
		"nothing set":                       {"x", look{}},
		"one of 16 colours":                 {"\x1b[31mx", look{fg: ansi.IndexedColor(1)}},
		"a bright one behind":               {"\x1b[102mx", look{bg: ansi.IndexedColor(10)}},
		"one of 256 colours":                {"\x1b[38;5;117mx", look{fg: ansi.IndexedColor(117)}},
		"true colour behind":                {"\x1b[48;2;1;2;3mx", look{bg: color.RGBA{1, 2, 3, 0xff}}},
		"true colour with colons":           {"\x1b[38:2::1:2:3mx", look{fg: color.RGBA{1, 2, 3, 0xff}}},
		"several at once":                   {"\x1b[1;38;5;9;4mx", look{fg: ansi.IndexedColor(9), bold: true, underline: true}},
		"an empty sequence resets":          {"\x1b[1;7m\x1b[mx", look{}},
		"the default colours come back":     {"\x1b[31;41m\x1b[39;49mx", look{}},
		"22 ends bold and faint":            {"\x1b[1;2;3m\x1b[22mx", look{italic: true}},
		"a look goes on over a line's end":  {"\x1b[7m\nx", look{reversed: true}},
		"an incomplete colour":              {"\x1b[1;38mx", look{bold: true}},
		"an unknown parameter":              {"\x1b[73;9mx", look{strike: true}},
		"a sequence that is not of colours": {"\x1b[2J\x1b[1mx", look{bold: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			screen := parse(test.capture)
			last := screen[len(screen)-1]
			if got := last[len(last)-1]; got.text != "x" || got.look != test.want {
				t.Errorf("look of the last cell = %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestCellsOfALine(t *testing.T) {
	tests := map[string]struct {
		capture string
		want    []int
	}{
		"empty":                  {"", nil},
		"an empty line":          {"\n", []int{0}},
		"no line end at the end": {"ab\nc", []int{2, 1}},
		"wide characters":        {"批k\n", []int{3}},
		"combining characters":   {"e\u0301x\n", []int{2}},
		"a cut off sequence":     {"a\x1b[3", []int{1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []int
			for _, line := range parse(test.capture) {
				got = append(got, len(line))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
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

func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.ansi")
	if err := os.WriteFile(empty, []byte("\n\x1b[0m\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ in, out, want string }{
		"no input named":   {"", "x.svg", "-in and -out are required"},
		"no such input":    {filepath.Join(dir, "absent"), filepath.Join(dir, "x.svg"), "read the capture"},
		"an empty capture": {empty, filepath.Join(dir, "x.svg"), "shows nothing"},
		"no such folder":   {"testdata/looks.ansi", filepath.Join(dir, "absent", "x.svg"), "write the picture"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := run(test.in, test.out, ""); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("run() = %v, want an error with %q", err, test.want)
			}
		})
	}
}

func FuzzDraw(f *testing.F) {
	for _, seed := range []string{"a\n", "\x1b[38;5;1m█\x1b[0m", "\x1b[38;2;1", "批\u0301\x00\ufffe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, capture string) { wellFormed(t, draw(parse(capture), "fuzz")) })
}
