package tui

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAnObjectThatVanishesWhileItIsShown stays on the screen, which says that it is of before, and for how long.
func TestAnObjectThatVanishesWhileItIsShown(t *testing.T) {
	screensWith(t, explains, func(t *testing.T, name string) {
		r, a := rearrangeable(t)
		r.start().openScreen(name)
		shown := r.lines()[2:]
		a.gone = r.m.page().about.key()
		r.pass(20 * time.Second)
		golden(t, filepath.Join("testdata", "vanished", name+".80x24.golden"), r.plain())
		says(t, r.plain(), []string{"stale, 20s ago", "data of 20s ago", "not found", "KOORD0003"}, []string{"error:"})
		a.gone = ""
		r.pass(3 * time.Second)
		says(t, r.plain(), nil, []string{"not found", "KOORD0003", "stale"})
		if got := len(r.lines()[2:]); got != len(shown) {
			t.Errorf("%d lines when it is there again, before %d", got, len(shown))
		}
	})
}

// TestAnObjectThatIsGoneSaysSo when it is opened from a list that was read before, and esc leads back to the list.
func TestAnObjectThatIsGoneSaysSo(t *testing.T) {
	eachList(t, func(t *testing.T, name string) {
		r, a := rearrangeable(t)
		if r.start().openScreen(name).press("g", "j"); !r.leadsOn() {
			if name != workloadsName && name != configName { // rows that lead to lists of pods, and rows that are no objects
				t.Error("no screen is about what is in this list")
			}
			return
		}
		crumbs, rows := r.crumbs(), r.m.table().Len()
		a.gone = r.selectedKey()
		r.press("enter")
		says(t, r.plain(), []string{"error:", a.gone[strings.LastIndex(a.gone, "/")+1:], "not found", "hint: kubectl get", "KOORD0003", "ctrl-r"}, []string{"stale"})
		a.gone = ""
		if r.press("esc"); r.crumbs() != crumbs || r.m.table().Len() != rows || r.m.flash.bad {
			t.Errorf("esc leads to %s with %d rows and says %q, want %s with %d", r.crumbs(), r.m.table().Len(), r.m.flash.text, crumbs, rows)
		}
	})
}

// TestKeysOfAnObjectThatIsNotKnown lead nowhere: what the object is about, such as its node, is not known yet.
func TestKeysOfAnObjectThatIsNotKnown(t *testing.T) {
	for name, keys := range map[string][]string{
		podName:         {"n"},
		migrationName:   {"x", "p", "n", "t"},
		quotaScreenName: {"u"},
		reservationName: {"n", "x", "p"},
		gangName:        {"x", "p"},
		deviceName:      {"x", "p"},
		engineName:      {"x", "p", "n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start()
			r.hold = true
			r.openScreen(name)
			crumbs := r.crumbs()
			for _, key := range keys {
				if r.press(key); r.crumbs() != crumbs || r.m.flash.bad {
					t.Errorf("%s leads to %s and says %q", key, r.crumbs(), r.m.flash.text)
				}
			}
			r.release()
			if r.press(keys[0]); r.crumbs() == crumbs {
				t.Errorf("%s leads nowhere when the object is known", keys[0])
			}
		})
	}
}
