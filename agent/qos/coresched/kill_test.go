package coresched

import (
	"errors"
	"testing"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/coresched"
)

// errKilled is what everything comes to once the agent was killed.
var errKilled = errors.New("killed")

// life is how many more steps an agent takes: calls that change something, and saves.
type life struct{ left int }

func (l *life) step() error {
	if l.left == 0 {
		return errKilled
	}
	l.left--
	return nil
}

type mortalKernel struct {
	coresched.Kernel
	*life
}

func (r mortalKernel) Session(work func(coresched.Caller) error) error {
	return r.Kernel.Session(func(caller coresched.Caller) error { return work(mortalCaller{caller, r.life}) })
}

type mortalCaller struct {
	coresched.Caller
	*life
}

func (c mortalCaller) Call(command coresched.Command, thread int, scope coresched.Scope) (uint64, error) {
	if command == coresched.Create || command == coresched.ShareTo {
		if err := c.step(); err != nil {
			return 0, err
		}
	}
	return c.Caller.Call(command, thread, scope)
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

// TestAnAgentThatIsKilledForgetsNoCookie kills it after each step of giving cookies, and after each of taking them away.
func TestAnAgentThatIsKilledForgetsNoCookie(t *testing.T) {
	for _, release := range []bool{false, true} {
		for steps := 0; ; steps++ {
			n := newNode(t)
			n.pod("web", "LS", "team", 10, 11)
			n.pod("api", "LS", "team", 20)
			n.pod("batch", "BE", "other", 30)
			if release {
				n.kept()
			}
			left := &life{left: steps}
			n.reconciler.options.Kernel, n.reconciler.options.Cookies = mortalKernel{n.kernel, left}, mortalStore{n.reconciler.options.Cookies, left}
			var err error
			if n.in.Now = n.in.Now.Add(reconcileInterval); release {
				err = n.reconciler.Restore(t.Context())
			} else {
				err = n.reconciler.Reconcile(t.Context(), n.in)
			}
			n.restart()
			n.kept()
			n.want("10A 11A 20A 30B", "the agent after it gives every group one cookie")
			if own := n.reconciler.State().Own; len(own) > 0 {
				t.Errorf("killed after %d steps: threads %v are taken to have given themselves a cookie", steps, own)
			}
			n.restart()
			if err := n.reconciler.Restore(t.Context()); err != nil {
				t.Fatal(err)
			}
			n.want("", "and takes all away")
			if t.Failed() {
				t.Fatalf("killed after %d steps, releasing %t", steps, release)
			}
			if err == nil {
				break
			}
		}
	}
}
