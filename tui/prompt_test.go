package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"koordinator.sh/koord/tui/internal/cell"
)

// promptLead is what stands before a typed command or filter, in cells.
const promptLead = 2

// promptLine is the line of the prompt without styles.
func (r *rig) promptLine() string {
	r.t.Helper()
	return ansi.Strip(r.lines()[r.m.height-2])
}

// TestWhatIsEditedIsSeen: the character before the cursor is the one that was typed, wherever in a long line that is.
func TestWhatIsEditedIsSeen(t *testing.T) {
	long := strings.Repeat("abcdefghij", 12)
	for name, tc := range map[string]struct {
		keys []string
		// wantBefore is what stands before the cursor, and wantAfter what follows it.
		wantBefore, wantAfter string
	}{
		"at the end of a long line":       {[]string{":" + long}, "efghij", ""},
		"at its beginning":                {[]string{":" + long, "home"}, " :", "abcdefghij"},
		"typed at its beginning":          {[]string{":" + long, "home", "X", "Y"}, " :XY", "abcdefghij"},
		"one character back":              {[]string{":" + long, "left"}, "defghi", "j"},
		"the end after the beginning":     {[]string{":" + long, "home", "end"}, "efghij", ""},
		"in a short line":                 {[]string{":pods", "left", "left"}, " :po", "ds"},
		"a filter":                        {[]string{"/" + long, "home", "Z"}, " /Z", "abcdef"},
		"characters of two cells":         {[]string{":" + strings.Repeat("界", 60), "home", "right"}, " :界", "界界"},
		"the end of such a line":          {[]string{":" + strings.Repeat("界", 60) + "x"}, "界界x", ""},
		"deleted up to the cursor":        {[]string{":" + long, "left", "left", "ctrl+u"}, " :", "ij"},
		"deleted from the cursor on":      {[]string{":" + long, "home", "right", "right", "ctrl+k"}, " :ab", ""},
		"the last word deleted":           {[]string{":pods " + long, "ctrl+w"}, " :pods ", ""},
		"nothing typed":                   {[]string{":"}, " :", ""},
		"a command of the history, whole": {[]string{":" + long, "enter", ":", "up"}, "efghij", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(tc.keys...)
			cursor, line := r.m.promptCursor(), r.promptLine()
			if cursor == nil || cursor.Y != r.m.height-2 {
				t.Fatalf("the cursor is %v", cursor)
			}
			before, after := ansi.Truncate(line, cursor.X, ""), ansi.TruncateLeft(line, cursor.X, "")
			if !strings.HasSuffix(before, tc.wantBefore) || !strings.HasPrefix(after, tc.wantAfter) {
				t.Errorf("the cursor is in %q | %q, want %q | %q", before, after, tc.wantBefore, tc.wantAfter)
			}
		})
	}
}

// TestTheCursorIsInTheLine, whatever is typed and wherever the cursor goes.
func TestTheCursorIsInTheLine(t *testing.T) {
	r := newRig(t, 3).start().press(":")
	rapid.Check(t, func(t *rapid.T) {
		r.m.prompt.input.Set(rapid.StringOfN(rapid.RuneFrom([]rune("ab /世é👩")), 0, 150, -1).Draw(t, "text"))
		for range rapid.IntRange(0, 12).Draw(t, "moves") {
			r.m.prompt.input.Press(rapid.SampledFrom([]string{"left", "right", "home", "end", "delete", "backspace"}).Draw(t, "key"))
		}
		width := rapid.IntRange(minWidth, 140).Draw(t, "width")
		text, before := r.m.promptText(width)
		if before > cell.Width(text) || promptLead+before >= width || cell.Width(text) > width-promptLead {
			t.Fatalf("%d cells before the cursor, of %q on %d", before, text, width)
		}
		if !strings.Contains(r.m.prompt.input.Value(), text) {
			t.Fatalf("%q is shown of %q", text, r.m.prompt.input.Value())
		}
	})
}

// TestAPromptSaysWhatItExpects, and what is wrong with what is typed.
func TestAPromptSaysWhatItExpects(t *testing.T) {
	for name, tc := range map[string]struct {
		typed       string
		want, never []string
	}{
		"an empty filter":         {"/", []string{" /", "regular expression; ! inverts, -f fuzzy, -l labels"}, nil},
		"a filter":                {"/web", []string{" /web"}, []string{"regular expression", "incomplete"}},
		"half an expression":      {"/web(", []string{" /web(", "incomplete filter"}, nil},
		"half a selector":         {"/-l a in (", []string{"incomplete filter"}, []string{"enter applies"}},
		"a selector":              {"/-l a=b", []string{"enter applies the selector"}, []string{"incomplete"}},
		"an empty selector":       {"/-l ", nil, []string{"enter applies", "incomplete"}},
		"a command":               {":po", []string{" :po", "pods"}, []string{"regular"}},
		"commands of a beginning": {":re", []string{" :reservations", "reservation"}, nil},
		"no command":              {":zzz", []string{" :zzz"}, []string{"zzz "}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(tc.typed)
			says(t, strings.TrimRight(r.promptLine(), " "), tc.want, tc.never)
			menu := r.lines()[r.m.height-1]
			says(t, ansi.Strip(menu), []string{"enter", "esc cancel"}, []string{"describe"})
		})
	}
}

// TestCompletionRecovers: names that could not be read once are asked for again.
func TestCompletionRecovers(t *testing.T) {
	r := newRig(t, 30).start()
	r.src.Err = errUnreachable
	r.press(":explain shop/search-r")
	if got := r.m.ghost(); got != "" {
		t.Fatalf("%q completes the line, and no name can be read", got)
	}
	r.src.Err = nil
	if r.press("e"); r.m.ghost() != "index-0" {
		t.Errorf("%q completes the line when names can be read again", r.m.ghost())
	}
	if r.press("ctrl+u"); r.press("n", "s", "space", "k").m.ghost() != "ube-system" {
		t.Errorf("%q completes the namespace", r.m.ghost())
	}
}

// TestTheOldestCommandsOfTheHistoryGoFirst, and going back stops at the oldest.
func TestTheOldestCommandsOfTheHistoryGoFirst(t *testing.T) {
	var p prompt
	for i := range maxHistory + 5 {
		p.remember(fmt.Sprint(i))
		p.remember(fmt.Sprint(i)) // the same again is one
	}
	p.open(promptCommand, "draft")
	for range maxHistory + 3 {
		p.recall(-1)
	}
	if got := p.input.Value(); got != "5" {
		t.Errorf("the oldest is %s", got)
	}
	for range maxHistory + 3 {
		p.recall(1)
	}
	if got := p.input.Value(); got != "draft" {
		t.Errorf("after the latest comes %q", got)
	}
}

// TestOpeningAPromptForgetsTheErrorBefore, and so does closing it.
func TestOpeningAPromptForgetsTheErrorBefore(t *testing.T) {
	p := prompt{err: errors.New("bad")}
	if p.open(promptFilter, "x"); p.err != nil || p.mode != promptFilter || p.input.Value() != "x" {
		t.Errorf("opened with %v", p.err)
	}
	p.err = errors.New("bad")
	if p.close(); p.err != nil || p.mode != promptOff {
		t.Errorf("closed with %v", p.err)
	}
}
