package gang

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// cluster is what the API server would say, beside a book that was told of it event by event, and a scheduler with some
// slots for pods.
type cluster struct {
	book   *Book
	pods   map[types.UID]*corev1.Pod
	groups map[string]*schedulingsigsv1alpha1.PodGroup
	now    time.Time
	free   int
	// queue are pods to be tried.
	queue map[types.UID]bool
	// roomless are the pods that were refused for want of room when they were tried last. Room that appears wakes them, and
	// nothing but the book wakes others that are in no set.
	roomless map[types.UID]bool
	// late has rejections carried out later, with other events between.
	late       bool
	rejections []Rejection
	// waiting have a slot and wait in Permit; binding have one and are being bound.
	waiting, binding map[types.UID]bool
	next             int
}

func newSimulated(free int) *cluster {
	return &cluster{
		book: NewBook(defaults), pods: map[types.UID]*corev1.Pod{}, groups: map[string]*schedulingsigsv1alpha1.PodGroup{}, now: start, free: free,
		queue: map[types.UID]bool{}, roomless: map[types.UID]bool{}, waiting: map[types.UID]bool{}, binding: map[types.UID]bool{},
	}
}

func (c *cluster) wake(pods []*corev1.Pod) {
	for _, pod := range pods {
		if c.pods[pod.UID] != nil && !c.waiting[pod.UID] && !c.binding[pod.UID] && c.pods[pod.UID].Spec.NodeName == "" {
			c.enqueue(pod.UID)
		}
	}
}

// enqueue is what the queue does with a pod that something woke: PreEnqueue may hold it back, and then only the book brings it
// forth again.
func (c *cluster) enqueue(uid types.UID) {
	if !c.book.Ready(keyOf(uidGang(uid))).Passed() {
		delete(c.roomless, uid)
		return
	}
	c.queue[uid] = true
}

func (c *cluster) create(gang string) {
	pod := podOf(gang, c.next)
	c.next++
	c.pods[pod.UID] = pod
	c.enqueue(pod.UID)
	c.wake(c.book.Observe(pod))
	c.complete(gang)
}

func (c *cluster) setGroup(group *schedulingsigsv1alpha1.PodGroup) {
	c.groups[group.Name] = group
	c.wake(c.book.SetGroup(FromGroup(group, defaults)))
	c.complete(group.Name)
}

// complete lets the members go that an event at a gang has completed.
func (c *cluster) complete(gang string) {
	for _, key := range c.book.Stalled(keyOf(gang)) {
		allowed := c.book.Waiting(key)
		c.book.Allow(allowed)
		c.allow(allowed)
	}
}

func (c *cluster) allow(pods []types.UID) {
	for _, uid := range pods {
		delete(c.waiting, uid)
		c.binding[uid] = true
	}
}

// try runs one scheduling cycle.
func (c *cluster) try(uid types.UID) error {
	pod := c.pods[uid]
	delete(c.queue, uid)
	delete(c.roomless, uid)
	key, _ := KeyOf(pod)
	if !c.book.Admit(key, uid, c.now).Passed() {
		return nil
	}
	if c.free == 0 {
		group := c.book.Gang(key).Spec.Group
		failed := c.book.Fail(key, uid, "no room", c.now)
		c.roomless[uid] = true
		c.reject(failed)
		if !c.late && c.book.Gang(key).strict() && !c.book.done(group) && c.book.anyWaiting(group) {
			return fmt.Errorf("members still wait after %s failed", uid)
		}
		return nil
	}
	c.free--
	c.waiting[uid] = true
	permission := c.book.Permit(key, uid, "n")
	if !permission.Refused.Passed() {
		c.unreserve(uid)
		return nil
	}
	c.wake(permission.Try)
	if permission.Wait > 0 {
		return nil
	}
	c.allow(append(permission.Allow, uid))
	return c.enough(key)
}

// enough checks what must be true when members are allowed.
func (c *cluster) enough(key Key) error {
	for _, name := range c.book.Gang(key).Spec.Group {
		gang := c.book.Gang(name)
		if gang.done() {
			continue
		}
		placed := 0
		for uid, pod := range c.pods {
			if of, _ := KeyOf(pod); of == name && (pod.Spec.NodeName != "" || c.binding[uid]) {
				placed++
			}
		}
		if placed < int(gang.Spec.MinMember) {
			return fmt.Errorf("members of %s are allowed when %d of %d of %s are placed", key, placed, gang.Spec.MinMember, name)
		}
	}
	return nil
}

func (c *cluster) reject(rejection Rejection) {
	if c.rejections = append(c.rejections, rejection); !c.late {
		for c.carryOut() {
		}
	}
}

// carryOut releases one member of the oldest rejection, or ends it. It returns false when there is none.
func (c *cluster) carryOut() bool {
	if len(c.rejections) == 0 {
		return false
	}
	oldest := &c.rejections[0]
	if len(oldest.Release) == 0 {
		try := oldest.Try
		c.rejections = c.rejections[1:]
		c.wake(try)
		return true
	}
	uid := oldest.Release[0]
	oldest.Release = oldest.Release[1:]
	if !c.waiting[uid] {
		return true
	}
	released, again := c.book.Release(uid)
	if again != nil {
		oldest.Try = append(oldest.Try, again)
	}
	if released {
		c.unreserve(uid)
	}
	return true
}

// unreserve gives a slot back.
func (c *cluster) unreserve(uid types.UID) {
	c.free++
	delete(c.waiting, uid)
	delete(c.binding, uid)
	pod := c.pods[uid]
	if pod == nil {
		pod = podOf(uidGang(uid), 0)
		pod.UID = uid
	}
	c.reject(c.book.Unplace(keyOf(uidGang(uid)), pod, c.now))
	room, given := c.book.TakeReleased(uid)
	for other := range c.roomless {
		if pod := c.pods[other]; pod != nil && other != uid && pod.Spec.NodeName == "" && (!given || c.book.MayUseReleased(room, other)) {
			c.enqueue(other)
		}
	}
}

func uidGang(uid types.UID) string { return string(uid[:1]) }

func (c *cluster) bind(uid types.UID) {
	delete(c.binding, uid)
	c.pods[uid] = bound(c.pods[uid])
	c.wake(c.book.Bound(uid))
	c.wake(c.book.Observe(c.pods[uid]))
	c.complete(uidGang(uid))
}

func (c *cluster) remove(uid types.UID) {
	pod := c.pods[uid]
	delete(c.pods, uid)
	delete(c.queue, uid)
	c.wake(c.book.Forget(uid))
	c.complete(uidGang(uid))
	switch {
	case pod.Spec.NodeName != "":
		c.free++
		c.freed()
	case c.waiting[uid] || c.binding[uid]:
		c.unreserve(uid)
		c.freed()
	}
}

// freed wakes what was refused for want of room, as the plugins that refused would.
func (c *cluster) freed() {
	for uid := range c.roomless {
		if c.pods[uid] != nil && c.pods[uid].Spec.NodeName == "" {
			c.enqueue(uid)
		}
	}
}

func first(set map[types.UID]bool) (types.UID, bool) {
	var list []types.UID
	for uid := range set {
		list = append(list, uid)
	}
	if len(list) == 0 {
		return "", false
	}
	return slices.Min(list), true
}

func draw(t *rapid.T, set map[types.UID]bool, label string) (types.UID, bool) {
	var list []types.UID
	for uid := range set {
		list = append(list, uid)
	}
	if len(list) == 0 {
		return "", false
	}
	slices.Sort(list)
	return rapid.SampledFrom(list).Draw(t, label), true
}

func (c *cluster) step(t *rapid.T) error {
	gang := rapid.SampledFrom([]string{"a", "b", "c"})
	switch rapid.IntRange(0, 12).Draw(t, "event") {
	case 0, 1:
		c.create(gang.Draw(t, "gang"))
	case 2:
		c.setGroup(drawGroup(t, gang.Draw(t, "gang")))
	case 3:
		all := map[types.UID]bool{}
		for uid := range c.pods {
			all[uid] = true
		}
		if uid, found := draw(t, all, "deleted"); found {
			c.remove(uid)
		}
	case 4:
		if uid, found := draw(t, c.waiting, "timed out"); found {
			c.unreserve(uid)
			c.freed()
		}
	case 5, 6:
		if uid, found := draw(t, c.binding, "bound"); found {
			c.bind(uid)
		}
	case 7:
		c.now = c.now.Add(time.Second)
		if uid, found := draw(t, c.binding, "bind conflict"); found {
			c.unreserve(uid)
			c.queue[uid] = true
		}
	case 8:
		c.carryOut()
	case 9:
		c.freed()
	default:
		if uid, found := draw(t, c.queue, "tried"); found {
			return c.try(uid)
		}
	}
	return nil
}

func drawGroup(t *rapid.T, name string) *schedulingsigsv1alpha1.PodGroup {
	annotations := []string{extension.AnnotationGangMode, string(rapid.SampledFrom([]extension.GangMode{"Strict", "NonStrict"}).Draw(t, "mode"))}
	annotations = append(annotations, extension.AnnotationGangMatchPolicy, rapid.SampledFrom([]string{"", "only-waiting", "waiting-and-running", "once-satisfied"}).Draw(t, "policy"))
	if rapid.Bool().Draw(t, "grouped") {
		annotations = append(annotations, extension.AnnotationGangGroups, groupsOfBoth)
	}
	return groupOfPods(name, int32(rapid.IntRange(0, 4).Draw(t, "minimum")), annotations...)
}

// consistent compares the book with what its members and the cluster say.
func (c *cluster) consistent() error {
	for _, gang := range c.book.Gangs() {
		recount := Gang{}
		for _, member := range gang.Members {
			recount.count(member, 1)
			if pod := c.pods[member.Pod.UID]; pod != member.Pod {
				return fmt.Errorf("%s is a member and not the pod of the cluster", member.Pod.UID)
			}
			if (member.Phase == Waiting) != c.waiting[member.Pod.UID] || (member.Phase == Binding) != c.binding[member.Pod.UID] {
				return fmt.Errorf("%s is %s", member.Pod.UID, member.Phase)
			}
		}
		if recount.counts != gang.counts || recount.refused != gang.refused || recount.proven != gang.proven {
			return fmt.Errorf("%s counts %+v, %d refused, %d proven; its members are %+v, %d, %d", gang.Key, gang.counts, gang.refused, gang.proven, recount.counts, recount.refused, recount.proven)
		}
	}
	if held := len(c.waiting) + len(c.binding); held < 0 || c.free < 0 {
		return fmt.Errorf("%d slots are free", c.free)
	}
	return nil
}

// rebuilt is the book of a scheduler that started just now.
func (c *cluster) rebuilt() *Book {
	book := NewBook(defaults)
	for _, pod := range c.pods {
		book.Observe(pod)
	}
	for _, group := range c.groups {
		book.SetGroup(FromGroup(group, defaults))
	}
	return book
}

func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newSimulated(rapid.IntRange(0, 8).Draw(t, "slots"))
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			if err := c.step(t); err != nil {
				t.Fatal(err)
			}
			if err := c.consistent(); err != nil {
				t.Fatal(err)
			}
		}
		sameAfterRestart(t, c)
	})
}

// sameAfterRestart compares a book with one that is built from the objects of the cluster: what is decided and not bound is
// lost, and nothing else, but for gangs that ran and lost members since without a trace of it.
func sameAfterRestart(t *rapid.T, c *cluster) {
	fresh := c.rebuilt()
	for _, gang := range c.book.Gangs() {
		again := fresh.Gang(gang.Key)
		if again == nil {
			t.Fatalf("%s is gone", gang.Key)
		}
		live := gang.counts
		live.Waiting, live.Binding = 0, 0
		if diff := cmp.Diff(live, again.counts); diff != "" {
			t.Fatalf("%s (-live +rebuilt):\n%s", gang.Key, diff)
		}
		if (gang.Spec == nil) != (again.Spec == nil) || gang.Spec != nil && !gang.Spec.equal(again.Spec) {
			t.Fatalf("%s has rules %+v, and after a restart %+v", gang.Key, gang.Spec, again.Spec)
		}
	}
}

// settle lets everything happen that has to, without anything new. It returns the number of attempts.
func (c *cluster) settle(limit int) (int, error) {
	for attempts := 0; attempts < limit; attempts++ {
		for {
			uid, found := first(c.binding)
			if !found {
				break
			}
			c.bind(uid)
		}
		if uid, found := first(c.queue); found {
			if err := c.try(uid); err != nil {
				return attempts, err
			}
			continue
		}
		uid, found := first(c.waiting)
		if !found {
			return attempts, nil
		}
		c.unreserve(uid) // it waited too long
		c.now = c.now.Add(DefaultWaitTime)
	}
	return limit, nil
}

func BenchmarkGangOfTen(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		book := bookOf("a", 10, 10)
		for i := range 10 {
			permit(book, "a", i)
		}
	}
}
