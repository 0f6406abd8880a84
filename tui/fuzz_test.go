package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/tui/internal/cell"
)

var fuzzKeys = []string{
	"j", "k", "g", "G", "ctrl+f", "ctrl+b", "enter", "esc", "x", "v", "p", "q", "n", "a", "0", "+", "-", ":", "/", "?", "tab",
	"shift+tab", "up", "down", "left", "right", "backspace", "space", "ctrl+z", "ctrl+w", "ctrl+r", "ctrl+u", "N", "C", "M", "S", "A",
	"!", "(", "*", "ö", "界", "d", "y", "O", "shift+left", "shift+right", "-", "f", "l", "=", "e", "c", "w", "ctrl+space", "ctrl+\\",
}

// FuzzInput presses keys, resizes the terminal, breaks the cluster and lets time pass, and checks that what is drawn
// always fits the terminal.
func FuzzInput(f *testing.F) {
	f.Add([]byte{6, 6, 20, 20, 17, 0, 250, 80, 24, 7})
	f.Add([]byte{18, 38, 39, 6, 251, 252, 253, 17, 9, 6})
	f.Add([]byte{254, 5, 9, 254, 5, 9, 20, 254, 30, 4, 254, 30, 4, 6})
	f.Add([]byte{42, 43, 6, 6, 42, 46, 46, 44, 7, 18, 47, 49, 27, 50, 6})
	f.Add([]byte{17, 11, 20, 6, 250, 1, 1, 250, 200, 60, 10, 6, 6, 13})
	f.Fuzz(func(t *testing.T, script []byte) {
		r := newRig(t, 9).start()
		for i := 0; i < min(len(script), 200); i++ {
			switch b := script[i]; b {
			case 250:
				if i+2 < len(script) {
					r.resize(int(script[i+1]), int(script[i+2]))
					i += 2
				}
			case 251:
				r.src.Err = errUnreachable
			case 252:
				r.src.Err, r.src.Missing = nil, missing
			case 253:
				r.pass(3 * time.Second)
			case 254:
				if i+2 < len(script) {
					at := tea.Mouse{X: int(script[i+1]), Y: int(script[i+2]), Button: tea.MouseLeft}
					r.send(tea.MouseClickMsg(at))
					at.Button = tea.MouseWheelDown
					r.send(tea.MouseWheelMsg(at))
					i += 2
				}
			default:
				r.press(fuzzKeys[int(b)%len(fuzzKeys)])
			}
			if r.m.width > 0 && r.m.height > 0 {
				r.lines()
			}
		}
	})
}

// FuzzFilterAndCommand types anything into both prompts.
func FuzzFilterAndCommand(f *testing.F) {
	for _, seed := range []string{"node-00", "!hot", "(", `\Q`, "explain shop/", "pods /x", "ns \x1b[31m", "ns 名前"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := newRig(t, 9).start()
		for _, prompt := range []string{"/", ":"} {
			r.press(prompt)
			r.m.prompt.input.Insert(text)
			r.m.filterLive()
			r.lines()
			if c := r.m.promptCursor(); c != nil && (c.X < 0 || c.X >= r.m.width) {
				t.Fatalf("cursor at %d of %d", c.X, r.m.width)
			}
			r.press("tab", "enter")
			if out := r.screen(); strings.ContainsRune(out, '\r') || cell.Width(out) < 0 {
				t.Fatalf("control characters on the screen: %q", out)
			}
			if r.quit {
				return
			}
			r.m.pages = r.m.pages[:1]
		}
	})
}
