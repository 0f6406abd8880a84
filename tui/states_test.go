package tui

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/tui/internal/fixture"
)

// terminals are the smallest terminal and a wide one.
var terminals = [][2]int{{80, 24}, {160, 50}}

// state is what a cluster does while a screen is opened.
type state struct {
	// open shows the screen of a name, in the state.
	open func(t testing.TB, name string) *rig
	// want is what every screen has to say of it, but for the help, which asks nothing.
	want []string
	// never is what no screen may say.
	never []string
}

// plain is what is on the screen without styles.
func (r *rig) plain() string {
	r.t.Helper()
	return ansi.Strip(r.screen())
}

func (r *rig) failing(err error) *rig {
	r.src.Err = err
	return r
}

// states are those that every view has to render.
var states = map[string]state{
	"loaded": {
		open:  func(t testing.TB, name string) *rig { return newRig(t, 30).start().openScreen(name) },
		want:  []string{"0s ago"},
		never: []string{"error:", "stale,", "loading", "incomplete"},
	},
	"loading": {
		open: func(t testing.TB, name string) *rig {
			r := newRig(t, 30)
			r.hold = true
			r.start().openScreen(name).pass(3 * time.Second)
			return r
		},
		want:  []string{"loading from the cluster… 3s", "◌ loading"},
		never: []string{"error:", "no nodes", "no pods", "none of"},
	},
	"unreachable": {
		open: func(t testing.TB, name string) *rig {
			return newRig(t, 30).failing(errUnreachable).start().openScreen(name)
		},
		want:  []string{"error: list nodes: dial tcp 127.0.0.1:6443", "hint: koordctl sandbox up", "KOORD0001", "ctrl-r to retry now", "✗ no data"},
		never: []string{"no nodes", "no pods in", "0s ago"},
	},
	"forbidden": {
		open: func(t testing.TB, name string) *rig {
			r := newRig(t, 30)
			r.src.Source = limited{Source: r.src.Source, namespace: "-"}
			r.src.Err = notPermitted("read this")
			return r.start().openScreen(name)
		},
		want:  []string{`error: read this: not permitted for user "eve"`, string(finding.Forbidden)},
		never: []string{"no nodes", "no pods in"},
	},
	"plain error": {
		open:  func(t testing.TB, name string) *rig { return newRig(t, 30).failing(errPlain).start().openScreen(name) },
		want:  []string{"error: list nodes: the answer is no JSON", "hint: koordctl status"},
		never: []string{"KOORD"},
	},
	"stale": {
		open: func(t testing.TB, name string) *rig {
			r := newRig(t, 30).start().openScreen(name).failing(errUnreachable)
			r.reload(45 * time.Second)
			return r
		},
		want:  []string{"stale, 45s ago", "data of 45s ago: list nodes: dial tcp", "KOORD0001"},
		never: []string{"error:"},
	},
	"partial": {
		open: func(t testing.TB, name string) *rig {
			r := newRig(t, 30)
			r.src.Missing = missing
			return r.start().openScreen(name)
		},
		want:  []string{"incomplete: nodemetrics: forbidden", "and 1 more, ? lists them"},
		never: []string{"error:"},
	},
	"unknown values": {
		open: func(t testing.TB, name string) *rig {
			r := newRig(t, 30)
			r.src.Source = limited{Source: r.src.Source, nodes: true}
			return r.start().openScreen(name)
		},
		never: []string{"0.00", "used 0 ", "requests 0 ", "NaN", "%!"},
	},
	"empty cluster": {
		open:  func(t testing.TB, name string) *rig { return newRig(t, 0).start().openScreen(name) },
		never: []string{"NaN", "%!", "panic"},
	},
}

// TestEveryScreenInEveryState holds what each registered screen shows in each state, on the smallest terminal and a wide one.
func TestEveryScreenInEveryState(t *testing.T) {
	for name, s := range states {
		t.Run(name, func(t *testing.T) {
			eachScreen(t, func(t *testing.T, screen string) {
				for _, size := range terminals {
					r := s.open(t, screen)
					r.resize(size[0], size[1])
					if screen == helpName {
						r.helpOnly()
					}
					text := r.plain()
					golden(t, filepath.Join("testdata", "screens", screen, fmt.Sprintf("%s.%dx%d.golden", strings.ReplaceAll(name, " ", "_"), size[0], size[1])), text)
					if c := r.m.page().content(); c.feed == nil || name == "partial" && len(c.incomplete) == 0 {
						continue // it asks nothing, or its answers are whole or fail
					}
					for _, want := range s.want {
						if !strings.Contains(text, want) {
							t.Errorf("%dx%d lacks %q:\n%s", size[0], size[1], want, text)
						}
					}
					for _, never := range s.never {
						if strings.Contains(text, never) {
							t.Errorf("%dx%d says %q:\n%s", size[0], size[1], never, text)
						}
					}
				}
			})
		})
	}
}

// TestEveryScreenRecovers: when the cluster answers again, a screen shows it without a key, unless it asks once.
func TestEveryScreenRecovers(t *testing.T) {
	eachScreen(t, func(t *testing.T, name string) {
		r := newRig(t, 30).failing(errUnreachable).start().openScreen(name)
		r.src.Err = nil
		r.reload(40 * time.Second) // a recorded past is asked for again after half a minute
		if text := r.screen(); strings.Contains(text, "error:") || strings.Contains(text, "KOORD0001") || strings.Contains(text, "stale") {
			t.Errorf("the error stays after it is over:\n%s", text)
		}
	})
}

// TestEveryScreenIsLeftAndEnteredAgain: a page keeps nothing of another object.
func TestEveryScreenIsLeftAndEnteredAgain(t *testing.T) {
	eachScreen(t, func(t *testing.T, name string) {
		r := newRig(t, 30).start().openScreen(name)
		first := r.screen()
		for _, key := range []string{"esc", "esc", "esc"} {
			r.press(key)
		}
		if got := r.m.page().screen.name; got != nodesName {
			t.Errorf("esc leads to %s, want home", got)
		}
		r.openScreen(name)
		if got := r.screen(); got != first {
			t.Errorf("shown again it is not as before:\n%s\nbefore:\n%s", got, first)
		}
	})
}

// TestEveryScreenAsksAgain with every refresh, unless it asks once, and stops when it is left.
func TestEveryScreenAsksAgain(t *testing.T) {
	// The others show the nodes, or ask nothing; the dashboard asks now and then. What looks objects up by their name does not ask this source.
	screensWith(t, func(s *screen) bool { return s.ask != nil && s.name != dashboardName && s.name != whyName }, func(t *testing.T, name string) {
		counted := &counting{Source: (&fixture.Cluster{Size: 30, Now: time.Now, Epoch: fixture.Epoch})}
		r := newRig(t, 30)
		r.src.Source = counted
		r.start().openScreen(name)
		opened := counted.asked.Load()
		r.pass(3 * r.m.interval)
		switch got := counted.asked.Load() - opened; {
		case r.m.page().screen.once && got != 3:
			t.Errorf("%d questions in three refreshes, want those for the nodes: it asks once", got)
		case name != chartName && !r.m.page().screen.once && got < 6: // the nodes and the screen's own question, three times
			t.Errorf("%d questions in three refreshes, want its own and the nodes each time", got)
		}
		r.press("esc", "esc")
		left := counted.asked.Load()
		r.pass(3 * r.m.interval)
		if got := counted.asked.Load() - left; got != 3 {
			t.Errorf("%d questions in three refreshes after it was left, want those for the nodes", got)
		}
	})
}
