package tui

import (
	"strings"
	"testing"

	"koordinator.sh/koord/tui/internal/fixture"
)

// TestHintsNameTheProgram: a hint has to be good for pasting, whatever name the program was called by.
func TestHintsNameTheProgram(t *testing.T) {
	for name, tc := range map[string]struct {
		scene func(*rig)
		want  string
	}{
		"no nodes":    {func(r *rig) { r.m.source = &fixture.Cluster{Now: r.clock.Now}; r.start() }, " sandbox up --nodes 30"},
		"an error":    {func(r *rig) { r.src.Err = errUnreachable; r.start() }, "hint: PROGRAM sandbox up"},
		"a plain one": {func(r *rig) { r.src.Err = errPlain; r.start() }, "hint: PROGRAM status"},
		"a finding":   {func(r *rig) { r.start().press(":explain analytics/spark-driver-0", "enter") }, "hint: PROGRAM explain node"},
	} {
		t.Run(name, func(t *testing.T) {
			for program, shown := range map[string]string{"": "koordctl", "koordctl": "koordctl", "kubectl koord": "kubectl koord"} {
				r := newRig(t, 30)
				r.m.program = program
				r.resize(120, 40)
				tc.scene(r)
				text, want := r.screen(), strings.ReplaceAll(tc.want, "PROGRAM", shown)
				if !strings.Contains(text, want) {
					t.Errorf("called as %q the screen lacks %q:\n%s", program, want, text)
				}
				if shown != "koordctl" && strings.Contains(text, "koordctl") {
					t.Errorf("called as %q the screen says koordctl:\n%s", program, text)
				}
			}
		})
	}
}

func TestATerminalTooSmallCanBeLeft(t *testing.T) {
	r := newRig(t, 30).start().press("enter", "d", ":")
	r.resize(40, 10)
	r.press("j")
	if r.quit {
		t.Error("a key other than q ended the workbench")
	}
	if r.press("q"); !r.quit {
		t.Error("q does not end the workbench, which is what the screen offers")
	}
}
