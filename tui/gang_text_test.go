package tui

import (
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/style"
)

func member(name, node string, phase corev1.PodPhase, refusal string) source.GangMember {
	return source.GangMember{Name: name, NodeName: node, Phase: phase, Refusal: refusal}
}

// TestTheTextOfAGang says its rules, each cause once, and where its members are.
func TestTheTextOfAGang(t *testing.T) {
	key := gang.Key{Namespace: "ml", Name: "train"}
	rules := func(minimum int32, groups ...gang.Key) *gang.Spec {
		return &gang.Spec{Key: key, Source: "PodGroup", MinMember: minimum, Mode: "NonStrict", MatchPolicy: "only-waiting", WaitTime: 90 * time.Second, Group: groups}
	}
	for name, tc := range map[string]struct {
		gang        source.Gang
		want, never []string
	}{
		"causes with how many members they hold, the most frequent first": {
			gang: source.Gang{Key: key, Spec: rules(3), Members: []source.GangMember{member("w-0", "", corev1.PodPending, "no gpu"),
				member("w-1", "", corev1.PodPending, "no cpu"), member("w-2", "", corev1.PodPending, "no cpu")}},
			want: []string{"Blocked", "ml/train", "2 members: no cpu", "1 member: no gpu", "3 members, 0 with a node"},
		},
		"what is missing, where no member is refused": {
			gang:  source.Gang{Key: key, Spec: rules(4), Members: []source.GangMember{member("w-0", "", corev1.PodPending, "")}},
			want:  []string{"Short", "1 of 4 members exist", "must run together        4", "PHASE", "Pending     <pending>", "w-0"},
			never: []string{"1 member:"},
		},
		"its rules": {
			gang: source.Gang{Key: key, Spec: rules(2, key, gang.Key{Namespace: "ml", Name: "serve"})},
			want: []string{"rules from               PodGroup", "mode                     NonStrict", "match policy             only-waiting",
				"members wait for         90s", "starts with              ml/train, ml/serve"},
			never: []string{"PHASE", "scheduling since"},
		},
		"a minimum that cannot be read": {
			gang:  source.Gang{Key: key, Spec: rules(0)},
			want:  []string{"must run together        -"},
			never: []string{"must run together        0"},
		},
		"without rules nothing is made up": {
			gang: source.Gang{Key: key, Members: []source.GangMember{member("w-0", "node-7", corev1.PodRunning, "")}},
			want: []string{"Invalid", "there is no PodGroup ml/train that can be seen", "occupied by              <none>", "Running     node-7", "w-0"}, never: []string{"rules from", "mode", "members wait for"},
		},
		"since when it is scheduled, and for whom": {
			gang: func() source.Gang {
				g := source.Gang{Key: key, Spec: rules(1)}
				g.Status.Phase, g.Status.OccupiedBy = "Scheduling", "job-1"
				g.Status.ScheduleStartTime = metav1.NewTime(builtAt.Add(-10 * time.Minute))
				return g
			}(),
			want: []string{"phase                    Scheduling", "scheduling since         10m", "occupied by              job-1"},
		},
		"no phase is none": {
			gang: source.Gang{Key: key, Spec: rules(1)}, want: []string{"phase                    <none>"},
		},
		"a node with a long name is whole where there is room": {
			gang: source.Gang{Key: key, Spec: rules(1), Members: []source.GangMember{member("w-0", "ip-10-128-45-171.eu-central-1.compute.internal", corev1.PodRunning, "")}},
			want: []string{"PHASE       NODE                                           POD", "Running     ip-10-128-45-171.eu-central-1.compute.internal w-0"},
		},
		"control characters of names": {
			gang:  source.Gang{Key: gang.Key{Namespace: "ml", Name: "a\x1b[2Jb"}, Members: []source.GangMember{member("w\r\n0", "n\t1", "Run\x07", "")}},
			want:  []string{"ml/a [2Jb", "Run ", "n 1", "w  0"},
			never: []string{"\r", "\t", "\x07"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 1)
			r.clock.SetTime(builtAt)
			says(t, textOf(r.m.gangText(&tc.gang, 100)), tc.want, tc.never)
		})
	}
}

// TestTheBarOfAGang: a cell each for those that run, have a node, exist, and are missing.
func TestTheBarOfAGang(t *testing.T) {
	for name, tc := range map[string]struct {
		needed, members, scheduled, running, succeeded int
		want                                           string
	}{
		"all run":                         {4, 4, 4, 4, 0, "████████"},
		"half have a node and some run":   {4, 4, 2, 1, 0, "██▓▓····"},
		"some are missing":                {8, 4, 0, 0, 0, "····╌╌╌╌"},
		"nothing is there yet":            {4, 0, 0, 0, 0, "╌╌╌╌╌╌╌╌"},
		"succeeded counts as running":     {2, 2, 2, 1, 1, "████████"},
		"more than are needed":            {2, 4, 4, 4, 0, "████████"},
		"what is needed is not known":     {0, 2, 1, 0, 0, "▓▓▓▓····"},
		"nothing is known":                {0, 0, 0, 0, 0, "╌╌╌╌╌╌╌╌"},
		"more run than exist, as counted": {2, 1, 2, 2, 0, "████████"},
	} {
		t.Run(name, func(t *testing.T) {
			g := source.Gang{Members: make([]source.GangMember, tc.members)}
			if tc.needed > 0 {
				g.Spec = &gang.Spec{MinMember: int32(tc.needed)} //nolint:gosec // small
			}
			g.Status.Scheduled, g.Status.Running, g.Status.Succeeded = int32(tc.scheduled), int32(tc.running), int32(tc.succeeded) //nolint:gosec // small
			if got := ansi.Strip(gangBar(&g, 8, style.New(plainLook))); got != tc.want {
				t.Errorf("bar %s, want %s", got, tc.want)
			}
		})
	}
}

// TestAGangLeadsToTheMemberThatWaits, else to its first one; without members to none.
func TestAGangLeadsToTheMemberThatWaits(t *testing.T) {
	for name, tc := range map[string]struct {
		members   []source.GangMember
		want      string
		wantFlash string
	}{
		"the first that waits": {[]source.GangMember{member("a", "n", corev1.PodRunning, ""), member("b", "", corev1.PodPending, ""), member("c", "", corev1.PodPending, "")}, "ml/b", ""},
		"none waits":           {[]source.GangMember{member("a", "n", corev1.PodRunning, ""), member("b", "n", corev1.PodRunning, "")}, "ml/a", ""},
		"a member that failed without a node does not wait": {[]source.GangMember{member("a", "n", corev1.PodRunning, ""), member("b", "", corev1.PodFailed, "")}, "ml/a", ""},
		"no members": {nil, "", "the pod is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start()
			r.run(r.m.explainMember(&source.Gang{Key: gang.Key{Namespace: "ml", Name: "train"}, Members: tc.members}))
			if got := r.m.page().about.key(); got != tc.want || r.m.flash.text != tc.wantFlash {
				t.Errorf("it leads to %q and says %q, want %q and %q", got, r.m.flash.text, tc.want, tc.wantFlash)
			}
		})
	}
}
