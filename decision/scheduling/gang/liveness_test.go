package gang

import (
	"testing"

	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
)

// TestNoDeadlock starts two gangs in a random order of attempts on room for only one of them, or for both: one runs whole,
// and the other one too when there is room, within a bounded number of attempts.
func TestNoDeadlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size, both := rapid.IntRange(1, 6).Draw(t, "size"), rapid.Bool().Draw(t, "room for both")
		slots := size
		if both {
			slots = 2 * size
		}
		slots += rapid.IntRange(0, size-1).Draw(t, "more slots")
		c := newSimulated(slots)
		for _, gang := range []string{"a", "b"} {
			c.setGroup(groupOfPods(gang, int32(size)))
		}
		for range size {
			c.create("a")
			c.create("b")
		}
		for range rapid.IntRange(0, 4*size).Draw(t, "attempts in a random order") {
			if uid, found := draw(t, c.queue, "tried"); found {
				if err := c.try(uid); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := c.settle(20 * size * size); err != nil {
			t.Fatal(err)
		}
		c.freed()
		if _, err := c.settle(20 * size * size); err != nil {
			t.Fatal(err)
		}
		whole := 0
		for _, gang := range []string{"a", "b"} {
			switch counts := c.book.Gang(keyOf(gang)).Counts(); counts.Bound {
			case size:
				whole++
			case 0:
			default:
				t.Errorf("%s runs in part: %+v", gang, counts)
			}
		}
		if want := slots / size; whole != min(want, 2) {
			t.Errorf("%d gangs run on %d slots, want %d of %d", whole, slots, min(want, 2), size)
		}
	})
}

// TestRestartInTheMiddle stops the scheduler when some members are bound: the next one completes the gang.
func TestRestartInTheMiddle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 8).Draw(t, "size")
		c := newSimulated(size)
		c.setGroup(groupOfPods("a", int32(size), extension.AnnotationGangMatchPolicy, rapid.SampledFrom([]string{"only-waiting", "waiting-and-running", "once-satisfied"}).Draw(t, "policy")))
		for range size {
			c.create("a")
		}
		for range size {
			uid, _ := first(c.queue)
			if err := c.try(uid); err != nil {
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(0, size).Draw(t, "bound") {
			uid, _ := first(c.binding)
			c.bind(uid)
		}
		c.book, c.free = c.rebuilt(), c.free+len(c.binding)
		for uid := range c.binding {
			delete(c.binding, uid)
			c.queue[uid] = true
		}
		attempts, err := c.settle(4 * size)
		if err != nil {
			t.Fatal(err)
		}
		if counts := c.book.Gang(keyOf("a")).Counts(); counts.Bound != size {
			t.Errorf("%+v after a restart and %d attempts, want %d bound", counts, attempts, size)
		}
	})
}

// TestNobodyIsForgotten has a random history, in which what the book decides is done late and in any order with other events,
// and then room for everybody. Without any timeout, all members that may be tried get a node, or wait for members that do not
// exist.
func TestNobodyIsForgotten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newSimulated(rapid.IntRange(0, 6).Draw(t, "slots"))
		c.late = true
		for range rapid.IntRange(1, 120).Draw(t, "events") {
			if err := c.step(t); err != nil {
				t.Fatal(err)
			}
		}
		for c.carryOut() {
		}
		c.free += 1000
		c.freed()
		for {
			if uid, found := first(c.binding); found {
				c.bind(uid)
			} else if uid, found := first(c.queue); found {
				if err := c.try(uid); err != nil {
					t.Fatal(err)
				}
			} else if !c.carryOut() {
				break
			}
		}
		for uid := range c.pods {
			member, key := c.book.Member(uid), keyOf(uidGang(uid))
			switch {
			case c.book.access(key) == shut || member.Phase == Bound:
			case member.Phase != Waiting:
				t.Errorf("%s is %s, and nothing will try it", uid, member.Phase)
			case c.book.Complete(key):
				t.Errorf("%s waits in a complete gang", uid)
			}
		}
	})
}
