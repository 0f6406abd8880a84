package tui

import (
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"
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
