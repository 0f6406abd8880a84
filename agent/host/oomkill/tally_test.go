package oomkill

import (
	"context"
	"errors"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/decision/core/cpuset"
)

var (
	layouts = []cgroup.Layout{
		{Version: cgroup.V1, Driver: cgroup.Cgroupfs}, {Version: cgroup.V2, Driver: cgroup.Systemd}, {Version: cgroup.V2, Driver: cgroup.Cgroupfs, Parent: "node"},
	}
	now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

// node is an imitation with some pods, of two containers each.
type node struct {
	*kernelfs.Tree
	layout cgroup.Layout
	tally  tally
}

func newNode(layout cgroup.Layout, pods ...types.UID) *node {
	n := &node{Tree: kernelfs.New(layout.Version, cpuset.Of(0)), layout: layout}
	n.tally = tally{tree: n.Tree, layout: layout, notifier: silent{}, pods: map[types.UID]*pod{}, fresh: map[types.UID]bool{}}
	for _, uid := range pods {
		n.start(uid)
	}
	return n
}

// id of a container.
func id(digit string) string { return strings.Repeat(digit, 64) }

func (n *node) pod(uid types.UID) string { return n.layout.Pod(corev1.PodQOSBurstable, uid) }

func (n *node) container(uid types.UID, digit string) string {
	name := id(digit)
	if n.layout.Driver == cgroup.Systemd {
		name = "cri-containerd-" + name + ".scope"
	}
	return path.Join(n.pod(uid), name)
}

func (n *node) start(uid types.UID) {
	n.Make(n.container(uid, "a"))
	n.Make(n.container(uid, "b"))
}

func (n *node) look() []Kill { return n.tally.look(now, hint{all: true}) }

func TestWhatIsReported(t *testing.T) {
	kill := func(uid types.UID, container string, processes int64) Kill {
		return Kill{Time: now, Pod: uid, Container: container, Processes: processes}
	}
	tests := map[string]struct {
		before, then func(n *node)
		want         []Kill
		// wantV1 is of version 1, where it is not the same.
		wantV1 []Kill
	}{
		"nothing": {},
		"a process of a container": {
			then: func(n *node) { n.KillForMemory(n.container("one", "a"), 1) },
			want: []Kill{kill("one", id("a"), 1)},
		},
		"processes of several containers and pods": {
			then: func(n *node) {
				n.KillForMemory(n.container("two", "b"), 1)
				n.KillForMemory(n.container("one", "b"), 3)
				n.KillForMemory(n.container("one", "a"), 2)
			},
			want: []Kill{kill("one", id("a"), 2), kill("one", id("b"), 3), kill("two", id("b"), 1)},
		},
		"a process of the pod that is in no container": {
			then: func(n *node) { n.KillForMemory(n.pod("one"), 1) },
			want: []Kill{kill("one", "", 1)},
		},
		"not what was killed before": {
			before: func(n *node) { n.KillForMemory(n.container("one", "a"), 5) },
			then:   func(n *node) { n.KillForMemory(n.container("one", "a"), 1) },
			want:   []Kill{kill("one", id("a"), 1)},
		},
		"a container whose cgroup went at once": {
			then: func(n *node) {
				n.KillForMemory(n.container("one", "a"), 1)
				n.Remove(n.container("one", "a"))
			},
			want:   []Kill{kill("one", "", 1)},
			wantV1: []Kill{},
		},
		"a container that is new": {
			then: func(n *node) {
				n.Make(n.container("one", "c"))
				n.KillForMemory(n.container("one", "c"), 1)
			},
			want: []Kill{kill("one", id("c"), 1)},
		},
		"a pod that is new": {
			then: func(n *node) {
				n.start("three")
				n.KillForMemory(n.container("three", "a"), 1)
			},
			want: []Kill{kill("three", id("a"), 1)},
		},
		"a pod that went": {
			then: func(n *node) {
				n.KillForMemory(n.container("one", "a"), 1)
				n.Remove(n.pod("one"))
			},
		},
		"a pod whose cgroup was made anew": {
			before: func(n *node) { n.KillForMemory(n.container("one", "a"), 5) },
			then: func(n *node) {
				n.Remove(n.pod("one"))
				n.Make(n.container("one", "c"))
				n.KillForMemory(n.container("one", "c"), 2)
			},
			want: []Kill{kill("one", id("c"), 2)},
		},
	}
	for name, test := range tests {
		for _, layout := range layouts {
			n := newNode(layout, "one", "two")
			if test.before != nil {
				test.before(n)
			}
			if found := n.look(); len(found) > 0 {
				t.Errorf("%s: the first look reports %v", name, found)
			}
			if test.then != nil {
				test.then(n)
			}
			want := test.want
			if layout.Version == cgroup.V1 && test.wantV1 != nil {
				want = test.wantV1
			}
			if diff := cmp.Diff(want, n.look(), cmp.Transformer("none", func(kills []Kill) []Kill { return append([]Kill{}, kills...) })); diff != "" {
				t.Errorf("%s, %+v (-want +got):\n%s", name, layout, diff)
			}
			if again := n.look(); len(again) > 0 {
				t.Errorf("%s, %+v: reported again: %v", name, layout, again)
			}
		}
	}
}

// TestWhatIsKilledWhileItIsReadIsReportedOnce kills in a container after the counter of its pod was read.
func TestWhatIsKilledWhileItIsReadIsReportedOnce(t *testing.T) {
	for _, layout := range layouts {
		n := newNode(layout, "one")
		n.look()
		n.KillForMemory(n.container("one", "a"), 1)
		killed := false
		n.Fail(nil)
		n.tally.notifier = onDirectory(func(at string) {
			if at == n.pod("one") && !killed {
				killed = true
				n.KillForMemory(n.container("one", "b"), 1)
			}
		})
		total := map[string]int64{}
		for range 3 {
			for _, kill := range n.look() {
				total[kill.Container] += kill.Processes
			}
		}
		if diff := cmp.Diff(map[string]int64{id("a"): 1, id("b"): 1}, total); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", layout, diff)
		}
	}
}

// onDirectory is called between reading the counter of a pod and those of its containers.
type onDirectory func(at string)

func (f onDirectory) directory(at string) { f(at) }

func (onDirectory) container(types.UID, string) bool { return true }
func (onDirectory) forget(string)                    {}

func (onDirectory) wait(ctx context.Context, _ time.Duration) hint {
	<-ctx.Done()
	return hint{}
}

// TestPodsWithContainersThatTheKernelNotifiesOfFromNowOnAreFresh, and not any more in the next look.
func TestPodsWithContainersThatTheKernelNotifiesOfFromNowOnAreFresh(t *testing.T) {
	n := newNode(layouts[0], "one", "two")
	n.tally.notifier = onDirectory(func(string) {})
	looks := []struct {
		name string
		then func()
		want map[types.UID]bool
	}{
		{"the first", func() {}, map[types.UID]bool{"one": true, "two": true}},
		{"nothing is new", func() {}, map[types.UID]bool{}},
		{"a container is new", func() { n.Make(n.container("two", "c")) }, map[types.UID]bool{"two": true}},
		{"nothing is new again", func() {}, map[types.UID]bool{}},
	}
	for _, look := range looks {
		look.then()
		n.look()
		if diff := cmp.Diff(look.want, n.tally.fresh); diff != "" {
			t.Errorf("%s (-want +got):\n%s", look.name, diff)
		}
	}
}

// TestWhatCannotBeReadIsReportedLater and what was killed before the first look that saw everything is not.
func TestWhatCannotBeReadIsReportedLater(t *testing.T) {
	for _, layout := range layouts {
		for _, unreadable := range []func(n *node) string{
			func(n *node) string { return n.pod("one") },
			func(n *node) string { return n.container("one", "a") },
			func(n *node) string { return n.layout.QoS(corev1.PodQOSBurstable) },
		} {
			n := newNode(layout, "one", "two")
			n.KillForMemory(n.container("one", "a"), 7)
			fail := func(operation, at string) error {
				what := unreadable(n)
				if at == layout.Statistic(cgroup.OOMKills, what) || operation == "list" && at == layout.Directory(cgroup.OOMKills, what) {
					return syscall.EIO
				}
				return nil
			}
			n.Fail(fail)
			kills := n.look()
			n.Fail(nil)
			if kills = append(kills, n.look()...); len(kills) > 0 {
				t.Errorf("%+v, without %s: reported before all was read: %v", layout, unreadable(n), kills)
			}
			n.Fail(fail)
			n.KillForMemory(n.container("one", "a"), 1)
			n.KillForMemory(n.container("two", "a"), 1)
			kills = n.look()
			n.Fail(nil)
			kills = append(kills, n.look()...)
			total := map[types.UID]int64{}
			for _, kill := range kills {
				if kill.Container != id("a") {
					t.Errorf("%+v, without %s: reported as %+v", layout, unreadable(n), kill)
				}
				total[kill.Pod] += kill.Processes
			}
			if diff := cmp.Diff(map[types.UID]int64{"one": 1, "two": 1}, total); diff != "" {
				t.Errorf("%+v, without %s (-want +got):\n%s", layout, unreadable(n), diff)
			}
		}
	}
}

// TestANotificationReadsNoMoreThanItIsOf: the counter of all pods in version 2, and those of one pod in version 1.
func TestANotificationReadsNoMoreThanItIsOf(t *testing.T) {
	for _, layout := range layouts {
		n := newNode(layout, "one", "two", "three")
		n.look()
		before, _ := n.Counts()
		where, want := hint{total: true}, 1
		if layout.Version == cgroup.V1 {
			where, want = hint{pods: map[types.UID]bool{"two": true, "gone": true}}, 3
		}
		if kills := n.tally.look(now, where); len(kills) > 0 {
			t.Errorf("reported %v", kills)
		}
		if after, _ := n.Counts(); after-before != want {
			t.Errorf("%+v: %d reads, want %d", layout, after-before, want)
		}
		n.KillForMemory(n.container("two", "a"), 1)
		if kills := n.tally.look(now, where); len(kills) != 1 || kills[0].Pod != "two" {
			t.Errorf("%+v: reported %v", layout, kills)
		}
	}
}

func TestWhatANodeSupports(t *testing.T) {
	for _, layout := range layouts {
		n := newNode(layout)
		if err := Supported(n.Tree, layout); err != nil {
			t.Errorf("%+v: a node without pods: %v", layout, err)
		}
		n.start("one")
		if err := Supported(n.Tree, layout); err != nil {
			t.Errorf("%+v: %v", layout, err)
		}
		n.Show(layout.Kubepods(), path.Base(layout.Statistic(cgroup.OOMKills, "")), "oom_kill_disable 0\nunder_oom 0")
		if err := Supported(n.Tree, layout); !errors.Is(err, errNotCounted) {
			t.Errorf("%+v: error %v of a kernel that does not count", layout, err)
		}
		n.Lack(path.Base(layout.Statistic(cgroup.OOMKills, "")))
		if err := Supported(n.Tree, layout); err == nil || !strings.Contains(err.Error(), "no controller for memory") {
			t.Errorf("%+v: error %v of a node without the controller", layout, err)
		}
	}
}

// FuzzKills: what is read is a number that stands in the content, after its name and at the beginning of a line.
func FuzzKills(f *testing.F) {
	f.Add("low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 0\n")
	f.Add("oom_kill_disable 0\nunder_oom 0\noom_kill 18446744073709551615\n")
	f.Add("oom_kill -1")
	f.Fuzz(func(t *testing.T, content string) {
		kills, err := killsIn([]byte(content))
		if err == nil && (kills < 0 || !strings.Contains("\n"+content, "\noom_kill ")) {
			t.Errorf("%q has %d kills", content, kills)
		}
	})
}
