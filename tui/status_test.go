package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// statusLine is the line of crumbs and messages.
func (r *rig) statusLine() string {
	lines := r.lines()
	return ansi.Strip(lines[len(lines)-2])
}

// TestMessagesAreReadInFull: the crumbs give way to a message, which goes away by itself.
func TestMessagesAreReadInFull(t *testing.T) {
	for name, tc := range map[string]struct {
		keys []string
		want string
	}{
		"at home":                     {nil, `<nodes>`},
		"behind a long name":          {[]string{":describe analytics/spark-driver-0", "enter"}, ""},
		"behind a long way":           {[]string{":yaml analytics/spark-driver-0", "enter", ":explain shop/search-reindex-0", "enter"}, "<shop/search-reindex-0>"},
		"of a screen whose name fits": {[]string{":chart", "enter"}, "<chart>"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(tc.keys...).press(":frob", "enter")
			line := r.statusLine()
			if !strings.Contains(line, `unknown command "frob"; :help lists the commands`) {
				t.Errorf("the message is cut: %q", line)
			}
			if tc.want != "" && !strings.Contains(line, tc.want) {
				t.Errorf("there is room for %s: %q", tc.want, line)
			}
			r.pass(flashTime)
			if line := r.statusLine(); !strings.Contains(line, "<"+r.m.page().crumb()+">") || strings.Contains(line, "frob") {
				t.Errorf("the crumbs do not come back: %q", line)
			}
		})
	}
}

// TestCrumbsLoseTheOldestFirst: where the user is matters more than where he came from.
func TestCrumbsLoseTheOldestFirst(t *testing.T) {
	r := newRig(t, 30).start().press(":pods", "enter", ":describe analytics/report-0003", "enter", "enter", ":describe shop/search-reindex-0", "enter")
	line := r.statusLine()
	if !strings.Contains(line, "<describe pod shop/search-reindex-0>") || strings.Contains(line, "<nodes>") {
		t.Errorf("unexpected crumbs %q", line)
	}
	r.resize(200, 24)
	if line := r.statusLine(); !strings.Contains(line, "<nodes> <pods>") {
		t.Errorf("all have room: %q", line)
	}
}

// TestTheMenuKeepsTheHelp on the narrowest terminal, of every screen and every prompt.
func TestTheMenuKeepsTheHelp(t *testing.T) {
	eachScreen(t, func(t *testing.T, name string) {
		r := newRig(t, 30).start().openScreen(name)
		lines := r.lines()
		if menu := ansi.Strip(lines[len(lines)-1]); !strings.HasSuffix(strings.TrimRight(menu, " "), "? help") {
			t.Errorf("unexpected menu %q", menu)
		}
	})
	for prompt, want := range map[string]string{":": "enter run", "/": "enter apply"} {
		lines := newRig(t, 30).start().press(prompt).lines()
		if menu := ansi.Strip(lines[len(lines)-1]); !strings.Contains(menu, want) || !strings.Contains(menu, "esc cancel") {
			t.Errorf("%s: unexpected menu %q", prompt, menu)
		}
	}
}
