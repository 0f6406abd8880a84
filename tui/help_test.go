package tui

import (
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"
	"github.com/charmbracelet/x/ansi"

	"koordinator.sh/koord/tui/internal/cell"
)

// TestKeysAreUnique makes sure that no key of a view hides another one: the first match wins.
func TestKeysAreUnique(t *testing.T) {
	for name, scene := range scenes {
		r := scene(t)
		owner := map[string]string{}
		for _, a := range r.m.actions() {
			for _, k := range a.Keys() {
				if other, ok := owner[k]; ok && other != a.Help().Desc {
					t.Errorf("%s: key %q means %q and %q", name, k, other, a.Help().Desc)
				}
				owner[k] = a.Help().Desc
			}
		}
	}
}

func TestHelpListsEveryKeyOfItsView(t *testing.T) {
	for name, keys := range map[string][]string{"nodes": nil, "node": {"enter"}, "chart": {"v"}, "pods": {":pods", "enter"}, "yaml": {"y"}} {
		r := newRig(t, 30).start().press(keys...)
		want := r.m.actions()
		r.resize(200, 70)
		text := r.press("?").screen()
		for _, a := range want {
			if !strings.Contains(text, a.Help().Key) || !strings.Contains(text, a.Help().Desc) {
				t.Errorf("%s: the help lacks %q %q", name, a.Help().Key, a.Help().Desc)
			}
		}
	}
}

func TestEveryMenuKeyDoesSomething(t *testing.T) {
	for name, scene := range scenes {
		r := scene(t)
		for _, a := range r.m.actions() {
			if a.run == nil || !a.Enabled() {
				t.Errorf("%s: %q does nothing", name, a.Help().Key)
			}
			for _, k := range a.Keys() {
				if _, known := specialKeys[k]; (known || !strings.HasPrefix(k, "shift+")) && !key.Matches(keyOf(k), a.Binding) {
					t.Errorf("%s: key %q does not match its own press %q", name, k, keyOf(k).String())
				}
			}
		}
	}
}

// TestTheHelpFitsTheSmallestTerminal: a text that does not scroll sideways must not be cut.
func TestTheHelpFitsTheSmallestTerminal(t *testing.T) {
	r := newRig(t, 30).start().press("?")
	r.resize(minWidth, 24)
	lines := r.m.helpText(1000)
	for i, line := range lines {
		// Keys are laid out in columns for the width; the sections below them are as wide as their texts.
		if w := cell.Width(strings.TrimRight(ansi.Strip(line), " ")); i > 16 && w > minWidth {
			t.Errorf("a line of the help has %d cells, want at most %d: %q", w, minWidth, ansi.Strip(line))
		}
	}
}

func TestHelpListsEveryCommand(t *testing.T) {
	r := newRig(t, 30).start().press("?")
	r.resize(160, 120)
	text := r.plain()
	for _, c := range r.m.commands() {
		if line := strings.TrimSpace(":" + c.name + " " + c.args); !strings.Contains(text, line+" ") || !strings.Contains(text, c.help) {
			t.Errorf("the help lacks %q %q:\n%s", line, c.help, text)
		}
	}
}
