package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestMarkedNodesAreDrainedTogether(t *testing.T) {
	for name, tc := range map[string]struct {
		keys       []string
		want       string
		wantMarked int
	}{
		"two nodes":                           {[]string{"space", "j", "j", "space", "w"}, "nodes > drain node-0000 node-0002", 2},
		"a range, wherever the cursor is":     {[]string{"space", "j", "j", "ctrl+space", "G", "w"}, "nodes > drain node-0000 node-0001 node-0002", 3},
		"also one that a filter hides":        {[]string{"space", "/7", "enter", "space", "w"}, "nodes > drain node-0000 node-0007", 2},
		"nodes that have devices":             {[]string{":devices", "enter", "space", "j", "space", "w"}, "nodes > devices > drain node-0003 node-0006", 2},
		"cleared, the one under the cursor":   {[]string{"space", "j", `ctrl+\`, "w"}, "nodes > drain node-0001", 0},
		"the capacity is for one pod":         {[]string{":pods shop", "enter", "space", "j", "w"}, "nodes > pods > capacity shop/catalog-0001", 1},
		"in a text there is nothing to mark":  {[]string{":node node-0001", "enter", "space", "w"}, "nodes > node-0001 > drain node-0001", 0},
		"no rows, nothing is marked":          {[]string{"/nothing", "enter", "space", "w"}, "nodes", 0},
		"marks are kept while one looks away": {[]string{"space", "enter", "esc", "j", "space", "w"}, "nodes > drain node-0000 node-0001", 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(tc.keys...)
			if got := r.crumbs(); got != tc.want || r.m.flash.bad {
				t.Errorf("w leads to %q and says %q, want %q", got, r.m.flash.text, tc.want)
			}
			r.press("esc")
			marked := 0
			if table := r.m.table(); table != nil {
				marked = table.Marks()
			}
			if marked != tc.wantMarked {
				t.Errorf("%d rows are marked, want %d", marked, tc.wantMarked)
			}
		})
	}
}

func TestNamesAreCopied(t *testing.T) {
	for name, tc := range map[string]struct {
		keys      []string
		want      string
		wantFlash string
	}{
		"the one under the cursor":    {[]string{"j", "c"}, "node-0001", "copied node-0001"},
		"those that are marked":       {[]string{"space", "j", "ctrl+space", "c"}, "node-0000 node-0001", "copied 2 names"},
		"pods without a namespace":    {[]string{":pods shop", "enter", "j", "c"}, "catalog-0001", "copied catalog-0001"},
		"nothing, where no row is":    {[]string{"/nothing", "enter", "c"}, "", ""},
		"what a text says nothing of": {[]string{":node node-0001", "enter", "c"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(tc.keys...)
			if r.copied != tc.want || r.m.flash.text != tc.wantFlash {
				t.Errorf("copied %q and says %q, want %q and %q", r.copied, r.m.flash.text, tc.want, tc.wantFlash)
			}
		})
	}
}

func TestTheTitleCountsMarks(t *testing.T) {
	for marked, want := range []string{"nodes[30] ─", "nodes[30] 1 marked ─", "nodes[30] 2 marked ─"} {
		r := newRig(t, 30).start()
		for range marked {
			r.press("space", "j")
		}
		if got := ansi.Strip(r.screen()); !strings.Contains(got, want) {
			t.Errorf("with %d marks the screen lacks %q:\n%s", marked, want, got)
		}
	}
}
