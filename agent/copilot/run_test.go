package copilot

import (
	"context"
	"net/http"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/kernelfs"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/test/eventually"
)

// TestAHungAgentHoldsNoOtherUp: its list is waited for on its own.
func TestAHungAgentHoldsNoOtherUp(t *testing.T) {
	release := make(chan struct{})
	hung, works := startScheduler(t, "hung"), startScheduler(t, "yarn", container("c1"))
	hung.set(func(s *fakeScheduler) {
		s.answer = func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
	})
	follower := NewFollower(FollowerOptions{
		Sockets: []string{hung.socket, works.socket}, Tree: kernelfs.New(cgroup.V2, cpuset.Of(0)), Clock: clock.RealClock{},
		Layout: cgroup.Layout{Version: cgroup.V2, Driver: cgroup.Cgroupfs},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); follower.Run(ctx) }()
	eventually.True(t, "the containers of the agent that works are known", func() bool { return len(follower.Containers()) == 1 })
	cancel()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the follower goes on after its context has ended")
	}
	close(release)
}

// TestASlowAgentIsAskedAgainInTime: its containers would be unknown most of the time if what it takes decided alone when it is asked again.
func TestASlowAgentIsAskedAgainInTime(t *testing.T) {
	s := startScheduler(t, "yarn", container("c1"))
	n := newNode(cgroup.V2, s.socket)
	asked := make(chan struct{}, 1)
	s.set(func(s *fakeScheduler) {
		s.answer = func(w http.ResponseWriter, _ *http.Request) {
			n.clock.Step(listTimeout)
			asked <- struct{}{}
			http.Error(w, "the NodeManager did not answer", http.StatusServiceUnavailable)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); n.Run(ctx) }()
	<-asked
	eventually.True(t, "the follower waits", n.clock.HasWaiters)
	n.clock.Step(longest)
	select {
	case <-asked:
	case <-time.After(10 * time.Second):
		t.Errorf("the agent is not asked again %s after it failed", longest)
	}
	cancel()
	<-ended
}
