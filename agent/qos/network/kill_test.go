package network

import (
	"errors"
	"testing"

	"github.com/vishvananda/netlink"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/network"
	"koordinator.sh/koord/agent/host/network/networktest"
)

// errKilled is what everything comes to once the agent was killed.
var errKilled = errors.New("killed")

// life is how many more steps an agent takes: calls that change the device, and saves.
type life struct{ left int }

func (l *life) step() error {
	if l.left == 0 {
		return errKilled
	}
	l.left--
	return nil
}

type mortalControl struct {
	network.Control
	*life
}

func (m mortalControl) QdiscAdd(q netlink.Qdisc) error {
	if err := m.step(); err != nil {
		return err
	}
	return m.Control.QdiscAdd(q)
}

func (m mortalControl) QdiscDel(q netlink.Qdisc) error {
	if err := m.step(); err != nil {
		return err
	}
	return m.Control.QdiscDel(q)
}

func (m mortalControl) ClassReplace(c netlink.Class) error {
	if err := m.step(); err != nil {
		return err
	}
	return m.Control.ClassReplace(c)
}

func (m mortalControl) FilterAdd(f netlink.Filter) error {
	if err := m.step(); err != nil {
		return err
	}
	return m.Control.FilterAdd(f)
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

// TestAnAgentThatIsKilledLeavesNoQueue kills it after each step of queueing a real device, and after each of giving it back.
func TestAnAgentThatIsKilledLeavesNoQueue(t *testing.T) {
	networktest.Run(t, nil, func(t *testing.T, control *netlink.Handle) {
		link, err := network.Uplink(control)
		if err != nil {
			t.Fatal(err)
		}
		before, err := network.DisciplineOf(control, link)
		if err != nil {
			t.Fatal(err)
		}
		for _, release := range []bool{false, true} {
			for steps := 0; ; steps++ {
				directory, log, in := t.TempDir(), audit.NewLog(100), snapshot()
				if err := reconcilerOf(t, control, directory, log).Restore(t.Context()); err != nil {
					t.Fatal(err)
				}
				killed := reconcilerOf(t, control, directory, log)
				if release {
					if err := killed.Reconcile(t.Context(), in); err != nil {
						t.Skip(err)
					}
				}
				left := &life{left: steps}
				killed.options.Control, killed.options.Device = mortalControl{control, left}, mortalStore{killed.options.Device, left}
				if release {
					_ = killed.Restore(t.Context()) // it may be killed
				} else {
					_ = killed.Reconcile(t.Context(), in) // as above
				}
				if err := reconcilerOf(t, control, directory, log).Reconcile(t.Context(), in); err != nil {
					t.Skip(err)
				}
				if now, err := network.DisciplineOf(control, link); err != nil || now.Kind != "htb" {
					t.Fatalf("killed after %d steps, releasing %t: the next agent sends by %v, %v", steps, release, now, err)
				}
				if err := reconcilerOf(t, control, directory, log).Restore(t.Context()); err != nil {
					t.Fatal(err)
				}
				if after, err := network.DisciplineOf(control, link); err != nil || after != before {
					t.Fatalf("killed after %d steps, releasing %t: it sends by %v (%v), was %v", steps, release, after, err, before)
				}
				if left.left > 0 {
					break
				}
			}
		}
	})
}
