package tui

import (
	"slices"
	"strings"
	"testing"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
)

// samples are objects of the fixture, one of each kind that a screen explains.
var samples = map[source.Kind]object{
	source.KindNode:        nodeObject("node-0001"),
	source.KindPod:         podObject("shop", "search-0003"),
	source.KindMigration:   migrationObject("hot-4-a"),
	source.KindQuota:       quotaObject("quotas", "spark"),
	source.KindGang:        gangObject("ml", "tune"),
	source.KindReservation: reservationObject("search"),
	source.KindWorkers:     workersObject("shop", "trino"),
	source.KindDevice:      deviceObject("node-0003"),
	source.KindWorkload:    workloadObject("shop", "statefulset/search"),
}

// sampleOf is what a page of a screen can be about. Describe and yaml take any object.
func sampleOf(s *screen) object {
	switch {
	case s.subject != nil:
		return samples[s.subject.kind]
	case s.name == drainName:
		return nodeObject("node-0006")
	case s.name == capacityName:
		return samples[source.KindPod]
	case s.name == scaleName:
		return deployment("search", 80)
	case s.name == settingName:
		return settingObject("colocation-config.cpuReclaimThresholdPercent")
	case s.name == planName || s.name == whatifName:
		return settingObject("colocation-config.cpuReclaimThresholdPercent=60")
	case s.name == describeName || s.name == yamlName:
		return samples[source.KindNode]
	case s.name == timelineName:
		return samples[source.KindPod]
	case s.name == whyName:
		return object{namespace: "default", name: "twice"}
	case s.name == codeName:
		return object{name: string(finding.NotInstalled)}
	}
	return object{}
}

// deployment is one of the fixture, with the replicas that it would have.
func deployment(name string, replicas int32) object {
	return object{kind: source.WorkloadKinds[0], namespace: "shop", name: name, replicas: replicas}
}

// openScreen opens a screen about its sample.
func (r *rig) openScreen(name string) *rig {
	r.t.Helper()
	s := r.m.screenOf(name)
	if s == nil {
		r.t.Fatalf("no screen %q", name)
	}
	if name == whyName {
		r.m.source = &catalogued{Scripted: r.src, objects: catalogue}
	}
	r.run(r.m.open(name, sampleOf(s)))
	return r
}

// eachScreen runs a test with every screen that is declared.
func eachScreen(t *testing.T, test func(t *testing.T, name string)) {
	t.Helper()
	screensWith(t, func(*screen) bool { return true }, test)
}

// screensWith runs a test for each screen of a kind, and fails where there is none.
func screensWith(t *testing.T, of func(*screen) bool, test func(t *testing.T, name string)) {
	t.Helper()
	tested := 0
	for _, s := range newRig(t, 1).m.screens {
		if of(s) {
			tested++
			t.Run(s.name, func(t *testing.T) { test(t, s.name) })
		}
	}
	if tested == 0 {
		t.Fatal("no screen is of this kind")
	}
}

// explains says whether a screen explains one object, or describes any.
func explains(s *screen) bool {
	return s.subject != nil || s.name == describeName || s.name == yamlName || s.name == timelineName
}

// isList says whether a screen is a table of objects. The rows of the dashboard sum objects up, and those of why are there for some names alone.
func isList(s *screen) bool {
	return s.subject == nil && s.name != dashboardName && s.name != whyName && s.content(&page{screen: s}).table != nil
}

// eachList runs a test with every screen that is a table.
func eachList(t *testing.T, test func(t *testing.T, name string)) {
	t.Helper()
	tested := 0
	screensWith(t, isList, func(t *testing.T, name string) {
		tested++
		test(t, name)
	})
	if tested < 7 {
		t.Fatalf("only %d screens are lists", tested)
	}
}

// leadsOn reports whether a screen explains what is under the cursor of a list.
func (r *rig) leadsOn() bool {
	about, ok := r.m.selected()
	return ok && r.m.explainerOf(about.kind) != nil
}

// TestScreensAreComplete: what is derived from a declaration needs all of it.
func TestScreensAreComplete(t *testing.T) {
	seen := map[string]bool{}
	eachScreen(t, func(t *testing.T, name string) {
		s := newRig(t, 1).m.screenOf(name)
		if name == "" || seen[name] {
			t.Errorf("the name %q is empty, or another screen's", name)
		}
		seen[name] = true
		if s.doc == "" || strings.HasSuffix(s.doc, ".") || strings.ToUpper(s.doc[:1]) != s.doc[:1] {
			t.Errorf("doc %q is no sentence without its full stop", s.doc)
		}
		if s.content == nil {
			t.Error("shows nothing")
		}
		if len(s.commands) == 0 {
			t.Error("no command opens it")
		}
		if sub := s.subject; sub != nil && (sub.kind.Name == "" || sub.names == nil || sub.describe == nil || sub.explanation == nil) {
			t.Errorf("the subject %q is not complete: it needs a kind, names, describe and explanation", sub.kind.Name)
		}
	})
}

// TestScreensShowOneThing: a table, a text or a drawing, with its feed and what it says without rows.
func TestScreensShowOneThing(t *testing.T) {
	eachScreen(t, func(t *testing.T, name string) {
		r := newRig(t, 30).start().openScreen(name)
		for tab := range nodeTabs {
			p := r.m.page()
			p.tab = tab
			c := p.content()
			shown := 0
			for _, is := range []bool{c.table != nil, c.text != nil, c.draw != nil} {
				if is {
					shown++
				}
			}
			if shown != 1 {
				t.Errorf("tab %d has %d of a table, a text and a drawing, want one", tab, shown)
			}
			if (c.table != nil || p.screen.ask != nil) && c.feed == nil {
				t.Errorf("tab %d asks, and shows no feed: errors and the age of the data would be hidden", tab)
			}
			if c.table != nil && (c.table.empty == nil || c.table.selected == nil) {
				t.Errorf("tab %d has a table without empty or selected", tab)
			}
			if (c.head == nil) != (c.headLines == 0) || c.head != nil && len(c.head(minWidth)) != c.headLines {
				t.Errorf("tab %d has a head of another number of lines than headLines %d", tab, c.headLines)
			}
		}
	})
}

// TestCommandsAreUnique: the first command of a name runs, so a second one never would.
func TestCommandsAreUnique(t *testing.T) {
	owner := map[string]string{}
	for _, c := range newRig(t, 1).m.commands() {
		if c.help == "" || c.run == nil {
			t.Errorf(":%s has no help, or does nothing", c.name)
		}
		for _, name := range append([]string{c.name}, c.aliases...) {
			if other, ok := owner[name]; ok {
				t.Errorf(":%s is a name of the commands %s and %s", name, other, c.name)
			}
			owner[name] = c.name
			if strings.ContainsAny(name, " /=") {
				t.Errorf(":%s cannot be told from its arguments", name)
			}
		}
		if c.complete != nil && c.args == "" {
			t.Errorf(":%s completes arguments that its help does not mention", c.name)
		}
	}
}

// TestKeysOfScreensDoNotCollide, on any tab, whether the screen shows a table, a text or a drawing.
func TestKeysOfScreensDoNotCollide(t *testing.T) {
	eachScreen(t, func(t *testing.T, name string) {
		r := newRig(t, 30).start().openScreen(name)
		for tab := range nodeTabs {
			r.m.page().tab = tab
			owner := map[string]string{}
			for _, a := range r.m.actions() {
				if a.Help().Key == "" || a.Help().Desc == "" || a.run == nil {
					t.Errorf("a key without a name, a help text or an action: %q %q", a.Help().Key, a.Help().Desc)
				}
				if !slices.Contains(groups, a.group) {
					t.Errorf("%q is in the group %q, which the help does not list", a.Help().Key, a.group)
				}
				for _, k := range a.Keys() {
					if other, ok := owner[k]; ok {
						t.Errorf("tab %d: key %q means %q and %q", tab, k, other, a.Help().Desc)
					}
					owner[k] = a.Help().Desc
				}
			}
		}
	})
}

// TestScreensOpenEachOther presses every key of every screen, in every tab: none may name a screen that is not declared.
func TestScreensOpenEachOther(t *testing.T) {
	eachScreen(t, func(t *testing.T, name string) {
		for tab := range nodeTabs {
			for _, a := range newRig(t, 30).start().openScreen(name).m.page().screen.keys {
				r := newRig(t, 30).start().openScreen(name)
				r.m.page().tab = tab
				r.run(r.m.poll())
				r.press(a.Keys()[0])
				r.lines()
				if strings.HasPrefix(r.m.flash.text, "no screen") {
					t.Errorf("tab %d: %s: %s", tab, a.Help().Key, r.m.flash.text)
				}
			}
		}
	})
}

// TestCommandsOpenTheirScreen with the name of the sample where they need one.
func TestCommandsOpenTheirScreen(t *testing.T) {
	eachScreen(t, func(t *testing.T, name string) {
		r := newRig(t, 30).start()
		s := r.m.screenOf(name)
		args := sampleOf(s).key()
		if name == scaleName {
			args = scaled(sampleOf(s))
		}
		for _, word := range append([]string{s.commands[0].name}, s.commands[0].aliases...) {
			r = newRig(t, 30).start().press(strings.TrimSpace(":"+word+" "+args), "enter")
			if got := r.m.page(); got.screen.name != name || got.about != sampleOf(s) {
				t.Errorf(":%s opens %s about %v", word, got.screen.name, got.about)
			}
		}
	})
}
