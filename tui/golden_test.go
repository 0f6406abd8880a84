package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/tui/internal/style"
)

var update = flag.Bool("update", false, "Write the golden files anew")

var looks = map[string]style.Appearance{"colour": colourLook, "nocolour": plainLook, "ascii": asciiLook}

var sizes = [][2]int{{80, 24}, {120, 40}, {200, 60}}

func TestGoldenViews(t *testing.T) {
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			for look, appearance := range looks {
				for _, size := range sizes {
					r := scene(t)
					r.m.st = style.New(appearance)
					r.resize(size[0], size[1])
					golden(t, filepath.Join("testdata", name, fmt.Sprintf("%dx%d.%s.golden", size[0], size[1], look)), r.screen())
				}
			}
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	got += "\n"
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got), go test -update accepts it:\n%s", path, diff)
	}
}

func TestLooksKeepTheirPromise(t *testing.T) {
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			r := scene(t)
			for look, appearance := range looks {
				r.m.st = style.New(appearance)
				for _, size := range sizes {
					r.resize(size[0], size[1])
					text := r.screen()
					if look != "colour" && strings.Contains(text, "\x1b[38") {
						t.Errorf("%s has a colour", look)
					}
					if i := strings.IndexFunc(text, func(c rune) bool { return c > 0x7e }); look == "ascii" && i >= 0 {
						t.Errorf("%s has %q", look, []rune(text[i:])[0])
					}
				}
			}
		})
	}
}

func TestEverySizeFits(t *testing.T) {
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := scene(t)
			for w := 1; w <= 130; w++ {
				for h := 1; h <= 50; h++ {
					if w >= minWidth && h >= minHeight && (w*3+h)%7 != 0 {
						continue // a seventh of the sizes that are drawn in full, at no regular distance
					}
					r.resize(w, h)
					r.lines()
				}
			}
			r.resize(500, 200)
			r.lines()
		})
	}
}
