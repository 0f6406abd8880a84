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
