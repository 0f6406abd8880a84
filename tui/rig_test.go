package tui

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	clocktesting "k8s.io/utils/clock/testing"

	"koordinator.sh/koord/tui/internal/cell"
	"koordinator.sh/koord/tui/internal/fixture"
	"koordinator.sh/koord/tui/internal/style"
)

// rig drives a model as the program would: it runs commands at once, and keeps what is due later until the clock gets
// there.
type rig struct {
	t     testing.TB
	m     *Model
	clock *clocktesting.FakePassiveClock
	src   *fixture.Scripted
	later []delayed
	// hold keeps answers back, as a slow cluster does.
	hold bool
	held []tea.Cmd
	quit bool
	// copied is what was put into the clipboard last.
	copied string
	// checked counts the checks of the installation.
	checked int
}

type delayed struct {
	due time.Time
	msg tea.Msg
}

var (
	colourLook = style.Appearance{Profile: colorprofile.TrueColor}
	plainLook  = style.Appearance{Profile: colorprofile.ASCII}
	asciiLook  = style.Appearance{Profile: colorprofile.ASCII, ASCII: true}
)

func newRig(t testing.TB, nodes int) *rig {
	t.Helper()
	r := &rig{t: t, clock: clocktesting.NewFakePassiveClock(fixture.Epoch.Add(40 * time.Second))}
	r.src = &fixture.Scripted{Source: &fixture.Cluster{Size: nodes, Now: r.clock.Now, Epoch: fixture.Epoch}}
	m, err := newModel(t.Context(), Options{Source: r.src, Clock: r.clock, RefreshInterval: 2 * time.Second, ReadOnly: true, Version: "v0.1.0", Check: r.checkAnswer}, plainLook)
	if err != nil {
		t.Fatal(err)
	}
	m.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
		return func() tea.Msg { return delayed{due: r.clock.Now().Add(d), msg: msg} }
	}
	r.m = m
	r.resize(80, 24)
	return r
}

// helpOnly leaves the help no commands but those of the help, so that its golden files are not those of other screens.
// docs/tui.md holds the commands of every screen, and TestHelpListsEveryCommand that the help lists them.
func (r *rig) helpOnly() *rig {
	r.m.screens = []*screen{r.m.screenOf(helpName)}
	return r
}

// start asks the first questions and takes their answers.
func (r *rig) start() *rig {
	r.run(r.m.Init())
	return r
}

func (r *rig) resize(w, h int) { r.send(tea.WindowSizeMsg{Width: w, Height: h}) }

func (r *rig) send(msg tea.Msg) {
	_, cmd := r.m.Update(msg)
	r.run(cmd)
}

func (r *rig) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if r.hold {
		r.held = append(r.held, cmd)
		return
	}
	r.take(cmd())
}

func (r *rig) take(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, cmd := range msg {
			r.run(cmd)
		}
	case delayed:
		r.later = append(r.later, msg)
	case tea.QuitMsg:
		r.quit = true
	default:
		if reflect.TypeOf(msg) == reflect.TypeOf(tea.SetClipboard("")()) {
			r.copied = fmt.Sprint(msg)
		}
		r.send(msg)
	}
}

// release runs what was held back.
func (r *rig) release() {
	held := r.held
	r.hold, r.held = false, nil
	for _, cmd := range held {
		r.run(cmd)
	}
}

// pass lets time go by in steps of half a second and delivers what becomes due.
func (r *rig) pass(d time.Duration) {
	for end := r.clock.Now().Add(d); r.clock.Now().Before(end); {
		r.clock.SetTime(r.clock.Now().Add(min(500*time.Millisecond, end.Sub(r.clock.Now()))))
		var due []tea.Msg
		later := r.later[:0:0]
		for _, l := range r.later {
			if l.due.After(r.clock.Now()) {
				later = append(later, l)
			} else {
				due = append(due, l.msg)
			}
		}
		r.later = later
		for _, msg := range due {
			r.send(msg)
		}
	}
}

// reload lets time go by with its refreshes, and asks again for what they do not ask for.
func (r *rig) reload(d time.Duration) {
	r.pass(d)
	if r.m.page().screen.once {
		r.press("ctrl+r")
	}
}

var specialKeys = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp},
	"down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "home": {Code: tea.KeyHome},
	"end": {Code: tea.KeyEnd}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "backspace": {Code: tea.KeyBackspace},
	"space": {Code: ' ', Text: " "}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "delete": {Code: tea.KeyDelete},
	"shift+left": {Code: tea.KeyLeft, Mod: tea.ModShift}, "shift+right": {Code: tea.KeyRight, Mod: tea.ModShift},
}

func keyOf(name string) tea.KeyPressMsg {
	if k, ok := specialKeys[name]; ok {
		return tea.KeyPressMsg(k)
	}
	if name == "ctrl+space" {
		return tea.KeyPressMsg{Code: tea.KeySpace, Mod: tea.ModCtrl}
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl}
	}
	runes := []rune(name)
	return tea.KeyPressMsg{Code: runes[0], Text: string(runes[0])}
}

// press presses keys by name. Text after a colon or a slash is typed rune by rune: ":pods shop".
func (r *rig) press(names ...string) *rig {
	for _, name := range names {
		if len(name) > 1 && (name[0] == ':' || name[0] == '/') {
			for _, c := range name {
				if c == ' ' {
					r.send(keyOf("space"))
				} else {
					r.send(keyOf(string(c)))
				}
			}
			continue
		}
		r.send(keyOf(name))
	}
	return r
}

// misfit says what of the screen does not fit the terminal; empty when all does.
func (r *rig) misfit() string {
	lines := strings.Split(r.m.draw(), "\n")
	if len(lines) != r.m.height {
		return fmt.Sprintf("%d lines on a terminal of %d", len(lines), r.m.height)
	}
	for i, line := range lines {
		if w := cell.Width(line); w > r.m.width {
			return fmt.Sprintf("line %d of %d cells on a terminal of %d: %q", i, w, r.m.width, line)
		}
	}
	return ""
}

// lines are what is on the screen, without styles; they are checked against the size of the terminal.
func (r *rig) lines() []string {
	r.t.Helper()
	if misfit := r.misfit(); misfit != "" {
		r.t.Fatal(misfit)
	}
	return strings.Split(r.m.draw(), "\n")
}

func (r *rig) screen() string { return strings.Join(r.lines(), "\n") }

func (r *rig) crumbs() string {
	var out []string
	for _, s := range r.m.pages {
		out = append(out, s.crumb())
	}
	return strings.Join(out, " > ")
}

// selectedKey is the object under the cursor.
func (r *rig) selectedKey() string {
	about, ok := r.m.selected()
	if !ok {
		return ""
	}
	return about.key()
}

// keyAt moves the cursor to a row of a list that is not empty, and is its object; a negative place counts from the end.
func (r *rig) keyAt(i int) string {
	table := r.m.table()
	table.Move(math.MinInt32)
	table.Move((i + table.Len()) % table.Len())
	return r.selectedKey()
}
