package coscheduling

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/scheduler/state/gangs"
	"koordinator.sh/koord/test/eventually"
)

// fill has plain pods take all of a node.
func (c *cluster) fill(t *testing.T, cpus int) (empty func()) {
	t.Helper()
	for i := range cpus {
		c.createPod(t, fmt.Sprintf("p%d", i), "")
	}
	eventually.True(t, "the node is full", func() bool { return c.bound(t)[""] == cpus })
	return func() {
		for i := range cpus {
			c.remove(t, fmt.Sprintf("p%d", i))
		}
	}
}

// refused are the names of the members of gang a that were refused.
func (c *cluster) refusedMembers(names ...string) []string {
	for _, member := range c.state.Report(keyIn("a")).Gangs[0].Refused {
		names = append(names, member.Pod.Name)
	}
	return names
}

// removeIdle deletes a member of gang a that was not refused, and waits until the plugin knows.
func (c *cluster) removeIdle(t *testing.T, members int) {
	t.Helper()
	refused := c.refusedMembers()
	for i := range members {
		if name := fmt.Sprintf("a-%d", i); !slices.Contains(refused, name) {
			c.remove(t, name)
			eventually.True(t, "the plugin knows", func() bool { return c.state.Counts(keyIn("a")).Children == members-1 })
			return
		}
	}
	t.Fatalf("all of %v are refused", refused)
}

// TestRefusedMembersDoNotWaitForEachOther has two members refused that a gang can do without one by one. With one member less it
// needs both, and each is woken by room alone.
func TestRefusedMembersDoNotWaitForEachOther(t *testing.T) {
	c := newCluster(t, 1, 4)
	c.start(t)
	empty := c.fill(t, 4)
	c.create(t, "a", 3, 4)
	eventually.True(t, "two members are refused", func() bool { return len(c.refusedMembers()) == 2 })
	c.removeIdle(t, 4)
	empty()
	eventually.True(t, "the gang runs", func() bool { return c.bound(t)["a"] == 3 })
}

// TestRoomWhileMembersAreMissing has room appear while the gang is a member short, so that the queue holds back the refused member
// that the room wakes. It is tried when the gang has enough members again, although the others still wait for it.
func TestRoomWhileMembersAreMissing(t *testing.T) {
	c := newCluster(t, 1, 4)
	c.start(t)
	empty := c.fill(t, 4)
	c.create(t, "a", 4, 4)
	eventually.True(t, "a member is refused", func() bool { return len(c.refusedMembers()) == 1 })
	c.removeIdle(t, 4)
	empty()
	c.createPod(t, "canary", "")
	eventually.True(t, "the scheduler has seen the room", func() bool { return c.bound(t)[""] == 1 })
	c.remove(t, "canary")
	c.createPod(t, "a-9", "a")
	eventually.True(t, "the gang runs", func() bool { return c.bound(t)["a"] == 4 })
}

// interleaved calls functions before a state learns what happened to members.
type interleaved struct {
	*gangs.State
	unplace func(pod *corev1.Pod)
	release func(uid types.UID)
}

func (i *interleaved) Unplace(key gang.Key, pod *corev1.Pod) gang.Rejection {
	i.unplace(pod)
	return i.State.Unplace(key, pod)
}

func (i *interleaved) Release(uid types.UID) (bool, *corev1.Pod) {
	i.release(uid)
	return i.State.Release(uid)
}

// TestTheGangChangesWhileItIsReleased has the minimum lowered between the decision to release two waiting members and the release
// of the second one, when the first one waits again: the change wakes only those that do not wait.
func TestTheGangChangesWhileItIsReleased(t *testing.T) {
	c := newCluster(t, 1, 10)
	counts := func() gang.Counts { return c.state.Counts(keyIn("a")) }
	lowered := c.group("a", 3)
	lowered.Spec.ScheduleTimeoutSeconds = new(int32(600))
	var passed atomic.Bool
	second := func() {
		c.groups.Modify(lowered)
		eventually.True(t, "the first waits again", func() bool { return counts().Waiting == 2 })
		passed.Store(true)
	}
	releases := 0
	c.between = func(state *gangs.State) State {
		return &interleaved{
			State: state,
			unplace: func(pod *corev1.Pod) {
				if pod.Name == "a-0" {
					eventually.True(t, "the deletion is known", func() bool { return state.Counts(keyIn("a")).Children == 3 })
				}
			},
			release: func(types.UID) { // all in the goroutine that unplaces a-0
				if releases++; releases == 2 {
					second()
				}
			},
		}
	}
	c.start(t)
	c.createGated(t, "a-3", "a")
	c.create(t, "a", 4, 3)
	eventually.True(t, "three wait", func() bool { return counts().Waiting == 3 })
	c.remove(t, "a-0")
	eventually.True(t, "the second is released", passed.Load)
	c.release(t, "a-3")
	eventually.True(t, "the gang runs", func() bool { return c.bound(t)["a"] == 3 })
}
