package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/source"
)

// others are second objects of the fixture, one of each kind of samples.
var others = map[source.Kind]object{
	source.KindNode:        nodeObject("node-0011"),
	source.KindPod:         podObject("shop", "search-reindex-0"),
	source.KindMigration:   migrationObject("hot-4-f"),
	source.KindQuota:       quotaObject("quotas", "typo"),
	source.KindGang:        gangObject("ml", "lost"),
	source.KindReservation: reservationObject("nightly"),
	source.KindWorkers:     workersObject("analytics", "spark"),
	source.KindDevice:      deviceObject("node-0009"),
	source.KindWorkload:    workloadObject("kube-system", "daemonset/node-agent"),
}

// otherForecast is what a second page of a forecast can be about.
var otherForecast = map[string]object{drainName: nodeObject("node-0019"), capacityName: podObject("shop", "search-reindex-0"), scaleName: deployment("catalog", 31),
	planName: settingObject("colocation-config.cpuReclaimThresholdPercent=45"), whatifName: settingObject("colocation-config.cpuReclaimThresholdPercent=45")}

// otherOf is what a second page of a screen can be about.
func otherOf(s *screen) object {
	if s.subject != nil {
		return others[s.subject.kind]
	}
	if s.once {
		return otherForecast[s.name]
	}
	return others[sampleOf(s).kind]
}

// opened is the screen of a rig with nothing but one object opened.
func opened(t testing.TB, name string, about object) string {
	t.Helper()
	r := newRig(t, 30).start()
	r.run(r.m.open(name, about))
	return strings.Join(r.lines()[1:22], "\n")
}

// TestAnAnswerOfTheObjectBeforeIsDropped, whether it comes before or after the one that is waited for.
func TestAnAnswerOfTheObjectBeforeIsDropped(t *testing.T) {
	for order, late := range map[string]bool{"it comes late": true, "it comes in between": false} {
		t.Run(order, func(t *testing.T) {
			screensWith(t, func(s *screen) bool { return explains(s) || s.once }, func(t *testing.T, name string) {
				r := newRig(t, 30).start()
				s := r.m.screenOf(name)
				want := opened(t, name, otherOf(s))
				r.hold = true
				r.openScreen(name)
				slow := r.held
				r.held = nil
				r.run(r.m.open(name, otherOf(s)))
				if quick := r.held; late {
					r.held = append(quick, slow...)
				} else {
					r.held = append(slow, quick...)
				}
				r.release()
				if got := strings.Join(r.lines()[1:22], "\n"); got != want {
					t.Errorf("it shows\n%s\nwant\n%s", got, want)
				}
			})
		})
	}
}

// TestAnAnswerOfAScreenThatWasLeftShowsNowhere: neither it nor an error that came in its place.
func TestAnAnswerOfAScreenThatWasLeftShowsNowhere(t *testing.T) {
	for name, err := range map[string]error{
		"an answer":             nil,
		"a connection was lost": errUnreachable,
		"no permission":         notPermitted("read this"),
		"an error of the kind":  finding.Wrap(errors.New("the server doesn't have this resource type"), finding.NotInstalled, "koordctl install"),
	} {
		t.Run(name, func(t *testing.T) {
			screensWith(t, func(s *screen) bool { return s.ask != nil }, func(t *testing.T, screen string) {
				r := newRig(t, 30).start().press("j", "j")
				r.hold = true
				r.openScreen(screen)
				if len(r.held) != 1 {
					t.Fatalf("%d commands are held back, want the one that asks", len(r.held))
				}
				asked, ok := r.held[0]().(tea.BatchMsg)
				if !ok || len(asked) < 2 {
					t.Fatal("the screen asks nothing but the nodes")
				}
				r.held, r.hold = nil, false
				r.run(asked[0]) // the nodes, which every screen asks for
				r.press("esc")
				r.src.Err = err
				for _, cmd := range asked[1:] {
					r.run(cmd)
				}
				r.src.Err = nil
				r.pass(3 * time.Second)
				if got := r.plain(); strings.Contains(got, "error") || strings.Contains(got, "KOORD") || r.m.flash.text != "" || r.crumbs() != nodesName {
					t.Errorf("it shows\n%s", got)
				}
				if got := r.selectedKey(); got != "node-0002" {
					t.Errorf("the cursor is on %s", got)
				}
			})
		})
	}
}
