package coscheduling

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/scheduler/state/gangs"
	"koordinator.sh/koord/test/eventually"
)

// failures counts members that found no node, and stops the scheduler when there are too many.
type failures struct {
	*gangs.State
	failed atomic.Int64
	limit  int64
	stop   func()
}

func (c *failures) Fail(key gang.Key, pod *corev1.Pod, reason string) gang.Rejection {
	if c.failed.Add(1) > c.limit {
		go c.stop()
	}
	return c.State.Fail(key, pod, reason)
}

// TestSchedulersWithGangsThatDoNotFitComeToRest runs whole schedulers in simulated time, in which a scheduler that has nothing else
// to do tries a pod whose backoff has not ended at once: when all members have been tried, nothing happens for a minute. Then
// there is room, and all of them run. How often members are tried depends on when the goroutines of released members run: one that
// gives its node back in the moment in which a refused member is taken out of the queue has that one tried once more. Of
// 120 runs of each case, half took fewer than 25 tries, and one took 255.
func TestSchedulersWithGangsThatDoNotFitComeToRest(t *testing.T) {
	type size struct {
		minimum int32
		members int
	}
	tests := map[string]struct {
		gangs      map[string]size
		free       int
		wantAtMost int64
	}{
		"a gang that needs all its members":  {map[string]size{"a": {4, 4}}, 2, 40},
		"a gang with members more than that": {map[string]size{"a": {3, 6}}, 2, 2000},
		"two gangs":                          {map[string]size{"a": {4, 5}, "b": {4, 4}}, 3, 2000},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, 1, 12)
				fails := &failures{limit: 4000}
				c.between = func(state *gangs.State) State {
					fails.State = state
					return fails
				}
				stop := c.start(t)
				fails.stop = stop
				t.Cleanup(func() {
					stop()
					c.groups.Shutdown()
					time.Sleep(2 * time.Second) // what counts metrics looks once a second whether it is over
				})
				empty := c.fill(t, 12-test.free)
				members := 0
				for _, name := range []string{"a", "b"} {
					if one := test.gangs[name]; one.members > 0 {
						c.create(t, name, one.minimum, one.members)
						members += one.members
					}
				}
				time.Sleep(5 * time.Second)
				tried := fails.failed.Load()
				if tried == 0 || tried > test.wantAtMost {
					t.Fatalf("members found no node %d times, want at most %d", tried, test.wantAtMost)
				}
				actions := len(c.client.Actions())
				time.Sleep(time.Minute)
				if again := fails.failed.Load(); again != tried || len(c.client.Actions()) != actions {
					t.Errorf("nothing changes, and members found no node %d times more, with %d requests", again-tried, len(c.client.Actions())-actions)
				}
				empty()
				eventually.True(t, "all run", func() bool { return total(c.bound(t)) == members })
			})
		})
	}
}
