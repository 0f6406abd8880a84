package resctrl

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/host/resctrl/resctrlfs"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// TestAGroupOfSomebodyElsesGetsItsThreadsBack has the agent use a group that was there before, with a thread in it, and end by a crash.
func TestAGroupOfSomebodyElsesGetsItsThreadsBack(t *testing.T) {
	for name, restarts := range map[string]bool{"the agent goes on": false, "after a crash": true} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, resctrlfs.Intel, intel)
			n.tree.Start(5)
			n.file("5/cgroup", "0::/system.slice/sshd.service\n")
			if err := errors.Join(n.tree.Make("LS"), n.tree.Write("LS/schemata", "L3:0=3\n"), n.tree.Write("LS/tasks", "5")); err != nil {
				t.Fatal(err)
			}
			n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{LSClass: share(30, 100, 100)}
			n.pod("web", "LS", nil, 20)
			n.pod("theirs", "LS", nil, 30, 31)
			if err := n.tree.Write("LS/tasks", "30"); err != nil { // somebody else put it there
				t.Fatal(err)
			}
			before := n.tree.Dump()
			n.kept()
			n.tree.Fork(20, 21) // is in the group of the thread that started it
			n.runs("web", 20, 21)
			n.kept()
			if got := n.tree.Dump()["LS/tasks"]; got != "5 20 21 30 31" {
				t.Fatalf("threads %q are in the group, want 5 20 21 30 31", got)
			}
			entries := len(n.log.After(0, 1000))
			if restarts {
				n.tree.Fork(20, 22) // and nobody looked since
				n.runs("web", 20, 21, 22)
				n.restart(Options{})
			}
			if err := n.keeper.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			before["LS/tasks"] = "5 30 31" // 31 is of a container that somebody else had put there
			if diff := cmp.Diff(before, n.tree.Dump()); diff != "" {
				t.Errorf("something is left (-before +after):\n%s", diff)
			}
			for _, entry := range n.log.After(uint64(entries), 1000) {
				if entry.Time.IsZero() || entry.Error != "" {
					t.Errorf("audited %+v", entry)
				}
			}
		})
	}
}

// TestContainersThatWentAreForgotten, or a state that lives as long as the machine grows with it.
func TestContainersThatWentAreForgotten(t *testing.T) {
	n := newNode(t, resctrlfs.Intel, intel)
	if err := n.tree.Make("LS"); err != nil {
		t.Fatal(err)
	}
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{LSClass: share(30, 100, 100)}
	for i := range 5 {
		n.in.Pods = nil
		n.pod(fmt.Sprintf("web%d", i), "LS", nil, 20+i)
		n.kept()
	}
	if got := n.keeper.held["LS"].Containers; len(got) != 1 {
		t.Errorf("%d containers are remembered, want the one that runs", len(got))
	}
}

// TestAGroupThatSomebodyElseRemovedIsTheAgents: what it makes again it removes.
func TestAGroupThatSomebodyElseRemovedIsTheAgents(t *testing.T) {
	n := newNode(t, resctrlfs.Intel, intel)
	before := n.tree.Dump()
	if err := n.tree.Make("LS"); err != nil {
		t.Fatal(err)
	}
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{LSClass: share(30, 100, 100)}
	n.pod("web", "LS", nil, 20)
	n.kept()
	if err := n.tree.Remove("LS"); err != nil {
		t.Fatal(err)
	}
	n.kept()
	if got := n.tree.Dump()["LS/tasks"]; got != "20" {
		t.Errorf("threads %q are in the group that was made again, want 20", got)
	}
	n.restart(Options{})
	if err := n.keeper.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, n.tree.Dump()); diff != "" {
		t.Errorf("something is left (-before +after):\n%s", diff)
	}
}
