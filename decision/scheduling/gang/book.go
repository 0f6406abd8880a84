package gang

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
)

// Book holds all gangs and where their members stand. It is not safe for concurrent use.
type Book struct {
	gangs map[Key]*Gang
	// gangOf finds the gang of a pod, also after its labels changed.
	gangOf map[types.UID]Key
	// listedBy are the gangs that name a gang in their group, itself not among them.
	listedBy map[Key]map[Key]bool
	defaults Defaults
	// moment counts the nodes that were taken and the members that were refused, to tell what was first.
	moment int64
}

// Gang is one gang. Only its Book may change it.
type Gang struct {
	Key Key
	// Spec is nil while neither a PodGroup nor a member says what the rules are.
	Spec    *Spec
	Members map[types.UID]*Member
	// Seen orders gangs in the queue: when the first of its objects was created.
	Seen time.Time

	// group and native are the rules that objects give; they come before those of members.
	group, native *Spec
	counts        Counts
	// unsure is true while the rules that members bring have to be looked up again.
	unsure bool
	// refused are pending members with a refusal, leaving and gone members not among them.
	refused int
	// proven is the number of bound members that were bound with the gang.
	proven int
	// ran is true once as many members were bound as must run together.
	ran bool
}

// Counts of a gang's members.
type Counts struct {
	// Children exist and are not being deleted before they ran.
	Children int
	Waiting  int
	Binding  int
	Bound    int
}

// Placed is the number of members that have a node, for good or not.
func (c Counts) Placed() int { return c.Waiting + c.Binding + c.Bound }

// NewBook returns a book without gangs.
func NewBook(defaults Defaults) *Book {
	return &Book{gangs: map[Key]*Gang{}, gangOf: map[types.UID]Key{}, listedBy: map[Key]map[Key]bool{}, defaults: defaults}
}

// Defaults in force.
func (b *Book) Defaults() Defaults { return b.defaults }

// Gang with the key, nil when there is none.
func (b *Book) Gang(key Key) *Gang { return b.gangs[key] }

// Gangs in order.
func (b *Book) Gangs() []*Gang {
	return slices.SortedFunc(maps.Values(b.gangs), func(x, y *Gang) int { return compareKeys(x.Key, y.Key) })
}

// Counts of the gang's members.
func (g *Gang) Counts() Counts { return g.counts }

// Ran is true once as many members were bound as must run together.
func (g *Gang) Ran() bool { return g.ran || g.Spec != nil && g.Spec.Ran }

// KeyOf returns the gang that a pod that was observed is a member of.
func (b *Book) KeyOf(uid types.UID) (Key, bool) {
	key, found := b.gangOf[uid]
	return key, found
}

// Member returns a pod as a member, nil when it is none.
func (b *Book) Member(uid types.UID) *Member {
	if gang := b.gangs[b.gangOf[uid]]; gang != nil {
		return gang.Members[uid]
	}
	return nil
}

// SetGroup takes over the rules of an object. It returns the pending pods that may be tried because of it and might not
// before.
func (b *Book) SetGroup(spec *Spec) []*corev1.Pod {
	if gang := b.gangs[spec.Key]; gang != nil && spec.equal(*gang.object(spec.Source)) {
		return nil
	}
	return b.renew(spec.Key, func() {
		gang := b.ensure(spec.Key, spec.Created)
		*gang.object(spec.Source) = spec
		b.settle(gang)
		for _, member := range gang.Members {
			gang.refuse(member, nil)
		}
	})
}

// RemoveGroup forgets the rules of an object that is gone. Members keep what they have.
func (b *Book) RemoveGroup(key Key, source Source) []*corev1.Pod {
	gang := b.gangs[key]
	if gang == nil {
		return nil
	}
	return b.watch(key, func() {
		*gang.object(source) = nil
		b.settle(gang)
	})
}

// object returns where the rules of a kind of object are kept.
func (g *Gang) object(source Source) **Spec {
	if source == FromNative {
		return &g.native
	}
	return &g.group
}

// Observe takes over a pod as the cluster has it: a new one, or one that changed. It returns the pending pods that may be
// tried because of it and might not before.
func (b *Book) Observe(pod *corev1.Pod) []*corev1.Pod {
	key, belongs := KeyOf(pod)
	before, known := b.gangOf[pod.UID]
	if known && (!belongs || before != key) {
		wake := b.Forget(pod.UID)
		if belongs {
			wake = append(wake, b.Observe(pod)...)
		}
		if pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !slices.Contains(wake, pod) {
			wake = append(wake, pod) // what its former gang refused, nothing else brings back
		}
		return wake
	}
	if !belongs {
		return nil
	}
	change := func() {
		gang := b.ensure(key, pod.CreationTimestamp.Time)
		b.gangOf[pod.UID] = key
		gang.observe(pod)
		gang.unsure = gang.unsure || carriesRules(pod) && (gang.author() == nil || gang.author().UID == pod.UID || older(pod, gang.author()))
		b.settle(gang)
	}
	switch member := b.Member(pod.UID); {
	case member == nil:
		return b.join(key, pod, change)
	case member.unplaced() && (pod.DeletionTimestamp != nil || pod.Spec.NodeName != ""):
		return b.renew(key, change)
	}
	return b.watch(key, change)
}

// join makes the change that a pod becomes a member by. Whether it may be queued was asked before, maybe when its gangs were not
// ready, and they may have become ready without it.
func (b *Book) join(key Key, pod *corev1.Pod, change func()) []*corev1.Pod {
	wake := b.watch(key, change)
	if b.due(key, b.Member(pod.UID)) && !slices.Contains(wake, pod) {
		wake = append(wake, pod)
	}
	return wake
}

// Forget drops a pod that is gone. It returns the pending pods that may be tried because of it and might not before.
func (b *Book) Forget(uid types.UID) []*corev1.Pod {
	key, known := b.gangOf[uid]
	if !known {
		return nil
	}
	change := func() {
		gang := b.gangs[key]
		gang.count(gang.Members[uid], -1)
		delete(gang.Members, uid)
		delete(b.gangOf, uid)
		gang.unsure = gang.unsure || gang.author() != nil && gang.author().UID == uid
		b.settle(gang)
	}
	if b.Member(uid).unplaced() {
		return b.renew(key, change)
	}
	return b.watch(key, change)
}

// author is the member that the rules come from, nil when they come from an object.
func (g *Gang) author() *corev1.Pod {
	if g.Spec == nil {
		return nil
	}
	return g.Spec.author
}

func (b *Book) ensure(key Key, seen time.Time) *Gang {
	gang := b.gangs[key]
	if gang == nil {
		gang = &Gang{Key: key, Members: map[types.UID]*Member{}, Seen: seen}
		b.gangs[key] = gang
	}
	return gang
}

// observe files a pod under the phase that the cluster knows of. Between the decision and the binding the cluster knows
// less than the book.
func (g *Gang) observe(pod *corev1.Pod) {
	member := g.Members[pod.UID]
	if member == nil {
		member = &Member{}
		g.Members[pod.UID] = member
	} else {
		g.count(member, -1)
	}
	member.Pod = pod
	if pod.Spec.NodeName != "" {
		member.Phase, member.Node, member.Refusal = Bound, pod.Spec.NodeName, nil
	}
	g.count(member, 1)
}

// count adds a member to the counts, or with -1 takes it out.
func (g *Gang) count(member *Member, by int) {
	if member.leaving() {
		return
	}
	g.counts.Children += by
	switch member.Phase {
	case Waiting:
		g.counts.Waiting += by
	case Binding:
		g.counts.Binding += by
	case Bound:
		g.counts.Bound += by
	case Pending, Releasing:
		if member.Refusal != nil {
			g.refused += by
		}
	}
	if member.proof() {
		g.proven += by
	}
}

// move changes the phase of a member.
func (g *Gang) move(member *Member, phase Phase) {
	g.count(member, -1)
	member.Phase = phase
	g.count(member, 1)
}

// refuse notes why a member found no node, or with nil that it may find one.
func (g *Gang) refuse(member *Member, refusal *Refusal) {
	g.count(member, -1)
	member.Refusal = refusal
	g.count(member, 1)
}

// settle finds out again which rules hold for a gang, and drops it when nothing of it is left.
func (b *Book) settle(gang *Gang) {
	spec := cmp.Or(gang.group, gang.native)
	switch {
	case spec != nil:
	case gang.unsure || gang.author() == nil:
		spec = b.fromMembers(gang)
	default:
		spec = gang.Spec
	}
	gang.unsure = false
	if spec != gang.Spec {
		b.list(gang.Key, gang.Spec, false)
		b.list(gang.Key, spec, true)
		gang.Spec = spec
	}
	if spec != nil && spec.MinMember > 0 && gang.counts.Bound >= int(spec.MinMember) {
		gang.ran = true
	}
	if len(gang.Members) == 0 && gang.group == nil && gang.native == nil {
		b.list(gang.Key, gang.Spec, false)
		delete(b.gangs, gang.Key)
	}
}

// fromMembers returns the rules that the oldest member with any brings. The same members give the same rules, in whatever
// order they were observed.
func (b *Book) fromMembers(gang *Gang) *Spec {
	var oldest *corev1.Pod
	for _, member := range gang.Members {
		if carriesRules(member.Pod) && (oldest == nil || older(member.Pod, oldest)) {
			oldest = member.Pod
		}
	}
	if oldest == nil {
		return nil
	}
	if gang.Spec != nil && gang.Spec.author == oldest {
		return gang.Spec
	}
	spec := FromPod(oldest, b.defaults)
	spec.author = oldest
	return spec
}

// carriesRules is true for a member of a gang that no object describes.
func carriesRules(pod *corev1.Pod) bool {
	return pod.Labels[extension.LabelPodGroup] == "" && extension.GangName(pod) != ""
}

func older(a, b *corev1.Pod) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.UID < b.UID
}

// list notes, or forgets, which gangs a gang names in its group.
func (b *Book) list(key Key, spec *Spec, listed bool) {
	if spec == nil {
		return
	}
	for _, other := range spec.Group {
		switch {
		case other == key:
		case listed:
			if b.listedBy[other] == nil {
				b.listedBy[other] = map[Key]bool{}
			}
			b.listedBy[other][key] = true
		default:
			if delete(b.listedBy[other], key); len(b.listedBy[other]) == 0 {
				delete(b.listedBy, other)
			}
		}
	}
}

// SetDefaults for gangs that are read from now on.
func (b *Book) SetDefaults(defaults Defaults) { b.defaults = defaults }
