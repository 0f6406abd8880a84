package resctrl

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/resctrl"
	"koordinator.sh/koord/agent/host/resctrl/resctrlfs"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// errKilled is what everything comes to once the agent was killed.
var errKilled = errors.New("killed")

// life is how many more steps an agent takes: groups that it makes or removes, writes, and saves.
type life struct{ left int }

func (l *life) step() error {
	if l.left == 0 {
		return errKilled
	}
	l.left--
	return nil
}

type mortalTree struct {
	resctrl.Tree
	*life
}

func (m mortalTree) Make(group string) error {
	if err := m.step(); err != nil {
		return err
	}
	return m.Tree.Make(group)
}

func (m mortalTree) Remove(group string) error {
	if err := m.step(); err != nil {
		return err
	}
	return m.Tree.Remove(group)
}

func (m mortalTree) Write(path, value string) error {
	if err := m.step(); err != nil {
		return err
	}
	return m.Tree.Write(path, value)
}

type mortalStore struct {
	executor.Store
	*life
}

func (s mortalStore) Save(data any) error {
	if err := s.step(); err != nil {
		return err
	}
	return s.Store.Save(data)
}

// TestAnAgentThatIsKilledLeavesNoGroup kills it after each step of making groups, and after each of removing them.
func TestAnAgentThatIsKilledLeavesNoGroup(t *testing.T) {
	var want map[string]string
	for _, release := range []bool{false, true} {
		for steps := -1; ; steps++ { // the first one is not killed
			n := newNode(t, resctrlfs.Intel, intel)
			n.in.SLO.ResourceQOSStrategy = &slov1alpha1.ResourceQOSStrategy{BEClass: share(0, 30, 20), LSClass: share(30, 100, 100)}
			n.pod("batch", "BE", nil, 10, 11)
			n.pod("web", "LS", nil, 20)
			if err := n.tree.Make("LS"); err != nil { // somebody else's
				t.Fatal(err)
			}
			before := n.tree.Dump()
			if release || steps < 0 {
				n.kept()
			}
			if want == nil {
				want = n.tree.Dump()
				continue
			}
			left := &life{left: steps}
			n.reconciler.options.Open = func() (resctrl.Tree, error) { return mortalTree{n.tree, left}, nil }
			n.reconciler.options.Originals = mortalStore{n.reconciler.options.Originals, left}
			if release {
				_ = n.reconciler.Restore(t.Context()) // it may be killed
			} else {
				_ = n.keep() // as above
			}
			n.restart(Options{Classes: true, Pods: true, Counters: true})
			n.kept()
			if diff := cmp.Diff(want, n.tree.Dump()); diff != "" {
				t.Fatalf("killed after %d steps, releasing %t: the next round comes to (-want +got):\n%s", steps, release, diff)
			}
			n.restart(Options{})
			if err := n.reconciler.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, n.tree.Dump()); diff != "" {
				t.Fatalf("killed after %d steps, releasing %t: something is left (-before +after):\n%s", steps, release, diff)
			}
			if left.left > 0 {
				break
			}
		}
	}
}
