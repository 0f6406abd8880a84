package tui

import (
	"path/filepath"
	"strings"
	"testing"

	"koordinator.sh/koord/messages"
	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/style"
)

// inChinese shows a scene to a reader of Chinese.
func inChinese(r *rig) *rig {
	look := plainLook
	look.Language = messages.Chinese
	r.m.st = style.New(look)
	return r
}

func TestGoldenViewsInChinese(t *testing.T) {
	for _, name := range []string{"nodes", "dashboard", "nodes_stale", "nodes_nomatch", "pods", "workers", "engine", "engine_timeline", "config", "help"} {
		t.Run(name, func(t *testing.T) {
			r := inChinese(scenes[name](t))
			r.resize(120, 40)
			golden(t, filepath.Join("testdata", "chinese", name+".golden"), r.screen())
		})
	}
}

// TestChineseFitsEveryTerminal: a Chinese character takes two cells, and none is cut in half.
func TestChineseFitsEveryTerminal(t *testing.T) {
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			r := inChinese(scene(t))
			for _, size := range [][2]int{{40, 10}, {80, 24}, {97, 31}, {120, 40}, {200, 60}} {
				r.resize(size[0], size[1])
				lines := strings.Split(r.screen(), "\n")
				if len(lines) != size[1] {
					t.Fatalf("%d lines on a terminal of %d", len(lines), size[1])
				}
				for _, line := range lines {
					if got := cell.Width(line); got > size[0] {
						t.Fatalf("a line of %d cells on a terminal of %d: %q", got, size[0], line)
					}
				}
			}
		})
	}
}

func TestTheEnvironmentChoosesTheLanguage(t *testing.T) {
	tests := map[string]struct {
		environ []string
		ascii   bool
		want    messages.Language
	}{
		"English":             {environ: []string{"LANG=en_US.UTF-8"}},
		"a Chinese locale":    {environ: []string{"LANG=zh_CN.UTF-8"}, want: messages.Chinese},
		"KOORD_LANG":          {environ: []string{"LANG=en_US.UTF-8", "KOORD_LANG=zh"}, want: messages.Chinese},
		"KOORD_LANG, English": {environ: []string{"LANG=zh_CN.UTF-8", "KOORD_LANG=en"}},
		"another charset":     {environ: []string{"LANG=zh_CN.GBK"}},
		"ASCII only":          {environ: []string{"LANG=zh_CN.UTF-8"}, ascii: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a, err := appearanceOf(Options{Environ: test.environ, ASCII: test.ascii, Color: "never"})
			if err != nil {
				t.Fatal(err)
			}
			if a.Language != test.want {
				t.Errorf("language %q, want %q", a.Language, test.want)
			}
		})
	}
}
