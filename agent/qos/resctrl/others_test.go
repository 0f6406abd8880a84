package resctrl

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/host/resctrl/resctrlfs"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
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
				n.tree.Fork(20, 22) // and the agent has not looked since
				n.runs("web", 20, 21, 22)
				n.restart(Options{})
			}
			if err := n.reconciler.Restore(t.Context()); err != nil {
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
	if got := n.reconciler.managed["LS"].Containers; len(got) != 1 {
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
	if err := n.reconciler.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, n.tree.Dump()); diff != "" {
		t.Errorf("something is left (-before +after):\n%s", diff)
	}
}

// startsAgain has kubelet start the container of a pod again: another one is made under the name, and the one before is removed.
func (n *node) startsAgain(uid string, threads ...int) {
	again := strings.Repeat("f", 64)
	for i, pod := range n.in.Pods {
		if string(pod.UID) != uid {
			continue
		}
		object, group := pod.Object.DeepCopy(), n.layout.Pod(pod.Class(), pod.UID)
		status := &object.Status.ContainerStatuses[0]
		n.cgroups.Remove(group + "/" + strings.TrimPrefix(status.ContainerID, "containerd://"))
		status.ContainerID = "containerd://" + again
		n.in.Pods[i] = state.PodOf(object)
		n.cgroups.Make(group + "/" + again)
	}
	n.tree.Start(threads...)
	n.runs(uid, threads...)
}

// TestAContainerThatStartsAgainIsPutWhereTheOneBeforeWas: the pod is one that the agent knows, and the threads are others.
func TestAContainerThatStartsAgainIsPutWhereTheOneBeforeWas(t *testing.T) {
	n := newNode(t, resctrlfs.Intel, intel)
	n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 100)}
	n.pod("batch", "BE", nil, 10, 11)
	n.pod("own", "LS", map[string]string{extension.AnnotationResctrl: `{"llc":{"schemata":{"range":[0,10]}}}`}, 20)
	n.kept()
	n.tree.End(10, 11, 20)
	n.startsAgain("batch", 30, 31)
	n.startsAgain("own", 40)
	n.kept()
	if dump := n.tree.Dump(); dump["BE/tasks"] != "30 31" || dump["koordlet-own/tasks"] != "40" {
		t.Errorf("threads %q are in the group of best effort and %q in the pod's own, want 30 31 and 40", dump["BE/tasks"], dump["koordlet-own/tasks"])
	}
}
