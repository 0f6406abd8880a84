package tui

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/source"
)

// reclaim is the setting that the tests change, which is 70 in the fixture.
const reclaim = "colocation-config.cpuReclaimThresholdPercent"

// writable is a rig whose user may change the configuration.
func writable(t testing.TB) *rig {
	r := newRig(t, 30)
	r.m.readOnly = false
	return r.start()
}

// helpOf is the help of the screen that a command opens, without the commands.
func (r *rig) helpOf(command string) *rig {
	r.start().press(command, "enter", "?")
	r.m.screens = []*screen{r.m.screenOf(helpName)}
	return r
}

// value types a value in place of the one that is asked for.
func (r *rig) value(text string) *rig {
	r.press("ctrl+u")
	for _, c := range text {
		r.press(string(c))
	}
	return r.press("enter")
}

// planned goes from the list to the plan of another value.
func (r *rig) planned(value string) *rig {
	return r.press(":config", "enter", "g", "j", "e").value(value)
}

// rival is another user who sets the value that the tests change.
func (r *rig) rival(value string) *rig {
	r.t.Helper()
	ctx := r.t.Context()
	current, err := r.src.Configuration(ctx, "")
	if err != nil {
		r.t.Fatal(err)
	}
	path, err := configuration.ParseKeyPath(reclaim)
	if err != nil {
		r.t.Fatal(err)
	}
	data, err := configuration.Assign(current.Data, path, value)
	if err == nil {
		_, err = r.src.WriteConfiguration(ctx, source.ConfigurationWrite{Base: current, Data: data})
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return r
}

// stored is the value in the ConfigMap.
func (r *rig) stored() string {
	r.t.Helper()
	current, err := r.src.Configuration(r.t.Context(), "")
	if err != nil {
		r.t.Fatal(err)
	}
	path, err := configuration.ParseKeyPath(reclaim)
	if err != nil {
		r.t.Fatal(err)
	}
	value, _, err := configuration.Value(current.Data[path.Key], path)
	if err != nil {
		r.t.Fatal(err)
	}
	return value
}

// causes are the commands of the revisions that were kept.
func (r *rig) causes() []string {
	r.t.Helper()
	revisions, err := r.src.Revisions(r.t.Context(), "")
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for _, revision := range revisions {
		out = append(out, revision.User+": "+revision.Cause)
	}
	return out
}

// TestAValueIsEditedPlannedAndWritten, and comes back in the list.
func TestAValueIsEditedPlannedAndWritten(t *testing.T) {
	r := writable(t).planned("60")
	says(t, r.plain(), []string{"✓ Planned  " + reclaim + "=60", "nothing is written yet; a writes it", "20 of 30 nodes affected"}, []string{"error"})
	if got := r.stored(); got != "70" {
		t.Fatalf("planning writes %s", got)
	}
	r.press("a")
	says(t, r.plain(), []string{"Write this? 20 of 30 nodes affected [y/N]", "y write"}, nil)
	if got := r.stored(); got != "70" {
		t.Fatalf("asking writes %s", got)
	}
	r.press("y")
	if got := r.stored(); got != "60" || r.crumbs() != "nodes > config" {
		t.Errorf("%s is stored, and it leads to %s", got, r.crumbs())
	}
	says(t, r.plain(), []string{"configmap/slo-controller-config configured (revision 2)"}, []string{"KOORD0209"})
	want := []string{": " + source.FoundCause, "admin: koordctl tui " + reclaim + "=60"}
	if diff := cmp.Diff(want, r.causes()); diff != "" {
		t.Errorf("revisions (-want +got):\n%s", diff)
	}
	if row := r.m.settings.rows.table.Selected(); row.name != reclaim || row.Value != "60" {
		t.Errorf("the cursor is on %s with %s", row.name, row.Value)
	}
}

// TestAChangeIsGivenUp at each step, and nothing is written.
func TestAChangeIsGivenUp(t *testing.T) {
	for name, tc := range map[string]struct {
		keys       []string
		wantCrumbs string
		wantQuit   bool
	}{
		"while the value is typed":     {[]string{"e", "5", "esc"}, "nodes > config", false},
		"with ctrl-c in the value":     {[]string{"e", "5", "ctrl+c"}, "nodes > config", true},
		"on the plan":                  {[]string{"e", "backspace", "5", "enter", "esc"}, "nodes > config", false},
		"with n":                       {[]string{"e", "backspace", "5", "enter", "a", "n"}, "nodes > config > plan", false},
		"with esc":                     {[]string{"e", "backspace", "5", "enter", "a", "esc"}, "nodes > config > plan", false},
		"with enter, which is no yes":  {[]string{"e", "backspace", "5", "enter", "a", "enter"}, "nodes > config > plan", false},
		"with ctrl-c at the question":  {[]string{"e", "backspace", "5", "enter", "a", "ctrl+c"}, "nodes > config > plan", true},
		"with keys that mean nothing":  {[]string{"e", "backspace", "5", "enter", "a", "x", "space", "esc"}, "nodes > config > plan", false},
		"for another value":            {[]string{"e", "backspace", "5", "enter", "e", "backspace", "1", "enter"}, "nodes > config > plan", false},
		"on the setting":               {[]string{"x", "e", "backspace", "5", "enter", "esc"}, "nodes > config > setting " + reclaim, false},
		"when it was cleared entirely": {[]string{"e", "backspace", "backspace", "backspace", "esc"}, "nodes > config", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := writable(t).press(":config", "enter", "j")
			r.press(tc.keys...)
			if r.crumbs() != tc.wantCrumbs || r.quit != tc.wantQuit || r.m.prompt.mode != promptOff && !tc.wantQuit {
				t.Errorf("it leads to %s, quits %t and asks %d", r.crumbs(), r.quit, r.m.prompt.mode)
			}
			if got := r.stored(); got != "70" || len(r.causes()) > 0 {
				t.Errorf("%s is stored, with the revisions %q", got, r.causes())
			}
		})
	}
}

// TestAValueThatIsRefusedStaysInTheLine, and what is wrong with it is said until it is changed.
func TestAValueThatIsRefusedStaysInTheLine(t *testing.T) {
	for name, tc := range map[string]struct{ value, want string }{
		"a text":              {"much", `✗ cpuReclaimThresholdPercent must be a whole number, is "much"`},
		"one out of range":    {"900", "✗ cpuReclaimThresholdPercent must be at least 0 and at most 200, is 900"},
		"broken JSON":         {"{", `✗ set ` + reclaim + `: "{" is not valid JSON`},
		"an object":           {`{"a": 1}`, "✗ cpuReclaimThresholdPercent"},
		"nothing":             {"", "✗ "},
		"the value it has":    {"70", "✗ this is its value already"},
		"a control character": {"\x1b[31m5", "✗ "},
	} {
		t.Run(name, func(t *testing.T) {
			r := writable(t).press(":config", "enter", "j", "e").value(tc.value)
			if r.m.prompt.mode != promptValue || r.crumbs() != "nodes > config" {
				t.Fatalf("it leads to %s", r.crumbs())
			}
			says(t, r.plain(), []string{tc.want}, nil)
			r.press("5")
			says(t, r.plain(), []string{"enter plan the change"}, []string{"✗ "})
		})
	}
}

// TestAConflictIsSaidAndNeverOverwritten: the plan was made on another version.
func TestAConflictIsSaidAndNeverOverwritten(t *testing.T) {
	r := writable(t).planned("60").rival("55").press("a", "y")
	says(t, r.plain(), []string{"Not written", "it was modified concurrently", "KOORD0215", "Plan again? [y/N]"}, []string{"configured"})
	if got := r.stored(); got != "55" || r.crumbs() != "nodes > config > plan" {
		t.Fatalf("%s is stored, and it leads to %s", got, r.crumbs())
	}
	r.press("n", "a")
	if r.m.prompt.mode != promptOff {
		t.Error("the plan of an older version is offered to be written")
	}
	r.press("ctrl+r")
	says(t, r.plain(), []string{"Planned", "55   60"}, []string{"Not written"})
	r.press("a", "y")
	if got := r.stored(); got != "60" || r.crumbs() != "nodes > config" {
		t.Errorf("%s is stored, and it leads to %s", got, r.crumbs())
	}
	r.planned("61").rival("55").press("a", "y", "y")
	says(t, r.plain(), []string{"Planned", "55   61"}, []string{"Not written"})
}

// TestAChangeThatIsBeingWritten is not written twice, and says what became of it wherever the user is.
func TestAChangeThatIsBeingWritten(t *testing.T) {
	for name, tc := range map[string]struct {
		script     func(*rig)
		keys       []string
		wantCrumbs string
		wantSaid   string
		wantStored string
	}{
		"it is waited for":            {func(*rig) {}, []string{"a"}, "nodes > config", "configured (revision 2)", "60"},
		"the user has left":           {func(*rig) {}, []string{"esc", "esc"}, "nodes", "configured (revision 2)", "60"},
		"the user looks at a pod":     {func(*rig) {}, []string{":pods", "enter"}, "nodes > config > plan > pods", "configured (revision 2)", "60"},
		"no revision can be kept":     {func(r *rig) { r.src.Unkept = true }, nil, "nodes > config > plan", "keep the current state for rollback", "70"},
		"the API server is away":      {func(r *rig) { r.src.Err = errUnreachable }, nil, "nodes > config > plan", "connection refused", "70"},
		"it may not be written":       {func(r *rig) { r.src.Err = notPermitted("patch configmaps") }, nil, "nodes > config > plan", "not permitted", "70"},
		"it was changed, and he left": {func(r *rig) { r.rival("55") }, []string{"esc", "esc"}, "nodes", "it was modified concurrently", "55"},
	} {
		t.Run(name, func(t *testing.T) {
			r := writable(t).planned("60").press("a")
			tc.script(r)
			r.hold = true
			r.press("y")
			writing := r.held
			r.hold, r.held = false, nil
			r.press(tc.keys...)
			if r.m.prompt.mode != promptOff {
				t.Error("it is offered to be written again")
			}
			for _, cmd := range writing {
				r.run(cmd)
			}
			if r.crumbs() != tc.wantCrumbs || !strings.Contains(r.m.flash.text, tc.wantSaid) {
				t.Errorf("it leads to %s and says %q", r.crumbs(), r.m.flash.text)
			}
			r.src.Err = nil
			if got := r.stored(); got != tc.wantStored {
				t.Errorf("%s is stored, want %s", got, tc.wantStored)
			}
		})
	}
}

// TestAChangeWithoutARevisionSaysSo: it is in force, and rollback cannot return to it.
func TestAChangeWithoutARevisionSaysSo(t *testing.T) {
	r := writable(t).planned("60").press("a", "y")
	r.src.Unkept = true
	r.planned("61").press("a", "y")
	if got := r.stored(); got != "61" || r.crumbs() != "nodes > config" || !r.m.flash.bad || !strings.Contains(r.m.flash.text, "was written, but no revision could be kept") {
		t.Errorf("%s is stored, it leads to %s and says %q", got, r.crumbs(), r.m.flash.text)
	}
}

// TestWhoMayNotChangeIsNotOffered to, and the help says why.
func TestWhoMayNotChangeIsNotOffered(t *testing.T) {
	const denied = `patch configmaps "slo-controller-config" in namespace "koordinator-system": not permitted`
	for name, tc := range map[string]struct {
		readOnly     bool
		whyNot, want string
	}{
		"read-only":     {true, "", "edit: the terminal interface was started with --readonly"},
		"no permission": {false, denied, "edit: patch configmaps"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30)
			r.m.readOnly, r.src.WhyNot = tc.readOnly, tc.whyNot
			r.start()
			for _, open := range []string{":config", ":setting " + reclaim, ":plan " + reclaim + "=60"} {
				r.press(open, "enter")
				says(t, r.plain(), nil, []string{"e edit", "a apply"})
				if r.press("e", "a"); r.m.prompt.mode != promptOff {
					t.Errorf("%s: a key asks all the same", open)
				}
				text := r.press("?").plain() + r.press("pgdown").plain()
				says(t, text, []string{"not available", tc.want}, nil)
				r.press("?")
			}
			if got := r.stored(); got != "70" {
				t.Errorf("%s is stored", got)
			}
		})
	}
}

// TestRightsThatAreNotKnownLeaveItToTheServer: asking may fail where writing does not.
func TestRightsThatAreNotKnownLeaveItToTheServer(t *testing.T) {
	r := writable(t)
	r.src.Err = errors.New("no response")
	r.press(":config", "enter")
	r.src.Err = nil
	r.pass(3 * time.Second)
	if r.planned("60").press("a", "y"); r.stored() != "60" {
		t.Errorf("%s is stored", r.stored())
	}
}

// TestPlansThatCannotBeWritten say why.
func TestPlansThatCannotBeWritten(t *testing.T) {
	for name, tc := range map[string]struct{ command, want string }{
		"it has errors":      {":plan " + reclaim + "=900", "the new configuration has errors: there is no plan for it"},
		"it changes nothing": {":plan " + reclaim + "=70", "there is nothing to write"},
	} {
		t.Run(name, func(t *testing.T) {
			r := writable(t).press(tc.command, "enter")
			says(t, r.plain(), []string{tc.want}, []string{"a apply"})
			if r.press("a"); r.m.prompt.mode != promptOff {
				t.Error("a asks all the same")
			}
		})
	}
}

// TestCommandsOfTheConfigurationNeedAnAssignment, and say how one is written.
func TestCommandsOfTheConfigurationNeedAnAssignment(t *testing.T) {
	for command, want := range map[string]string{
		":plan": "change required: :plan KEY.PATH=VALUE", ":whatif": "change required: :whatif KEY.PATH=VALUE", ":setting": "key path required: :setting KEY.PATH",
		":plan enable": `"enable": must be KEY.PATH=VALUE`, ":setting nope": `key path "nope": unknown key "nope"`, ":whatif nope=1": `key path "nope": unknown key "nope"`,
	} {
		r := writable(t).press(command, "enter")
		if !strings.HasPrefix(r.m.flash.text, want) || !r.m.flash.bad || r.crumbs() != nodesName {
			t.Errorf("%s leads to %s and says %q, want %q", command, r.crumbs(), r.m.flash.text, want)
		}
	}
}

// TestEveryFindingHasARow: also what is about no value in force, such as a key that cannot be read.
func TestEveryFindingHasARow(t *testing.T) {
	data := map[string]string{"colocation-config": "{", "resource-threshold-config": `{"clusterStrategy": {"enable": true, "nope": 1}}`,
		"cpu-burst-config": `{"nodeStrategies": [{"name": "a", "nodeSelector": {"matchLabels": {"a": "b"}}, "cpuBurstPercent": 1}]}`}
	current := &source.Configuration{Exists: true, Data: maps.Clone(data)}
	found := current.Judge(data, nil)
	if len(found) < 2 {
		t.Fatalf("only %d findings", len(found))
	}
	want, got := map[finding.Code]bool{}, map[finding.Code]bool{}
	for i := range found {
		want[found[i].Code] = true
	}
	for _, row := range settingRows(current, found) {
		for i := range row.found {
			got[row.found[i].Code] = true
		}
		if len(row.found) > 0 && !row.problem() && row.worst() == nil {
			t.Errorf("%s has findings and shows none", row.name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
}
