package gang

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// access is which pending members of a gang may be tried, from none to all.
type access int8

const (
	// shut: a gang of the group is not ready, and no member passes the queue.
	shut access = iota
	// narrow: the gang cannot do without members that were refused. Those may be tried, and the others wait for them.
	narrow
	// wide: all may be tried.
	wide
)

func (b *Book) access(key Key) access {
	gang := b.gangs[key]
	if gang == nil || gang.Spec == nil {
		return shut
	}
	group := gang.Spec.Group
	switch {
	case b.done(group):
		return wide
	case !b.ready(gang):
		return shut
	case slices.ContainsFunc(group, func(name Key) bool { return b.gangs[name].blocks(b.gangs[name].refused) }):
		return narrow
	}
	return wide
}

// open is true when members that were not refused themselves may be tried.
func (b *Book) open(key Key) bool { return b.access(key) == wide }

// watch makes a change to a gang, and returns the pending members that it gives access to, of this gang and of those that name
// it in their groups. They have to be woken: while they had none, whatever else would have woken them was lost on them.
func (b *Book) watch(key Key, change func()) []*corev1.Pod {
	before := b.access(key)
	var others map[Key]access
	for other := range b.listedBy[key] {
		if others == nil {
			others = map[Key]access{}
		}
		others[other] = b.access(other)
	}
	change()
	wake := b.gained(key, before, nil)
	for other := range b.listedBy[key] {
		wake = b.gained(other, others[other], wake)
	}
	return wake
}

// gained adds the members of a gang that have access and had none before. Refused members have access in a gang that is narrow,
// too: they gain none when it becomes wide, and are woken by what refused them, unless the gang ran, and no pod wants the room any
// more that others gave back.
func (b *Book) gained(key Key, before access, wake []*corev1.Pod) []*corev1.Pod {
	now := b.access(key)
	if now <= before {
		return wake
	}
	for _, member := range b.gangs[key].Members {
		if member.unplaced() && (now == wide && member.Refusal == nil || member.Refusal != nil && (before == shut || b.done(b.groupOf(key)))) {
			wake = append(wake, member.Pod)
		}
	}
	return wake
}

// renew makes a change after which a gang needs other room than its refused members were refused for: other rules, or a member
// less. It returns those members of its group, beside those that the change gives access to.
func (b *Book) renew(key Key, change func()) []*corev1.Pod {
	var refused []types.UID
	for _, name := range b.groupOf(key) {
		if gang := b.gangs[name]; gang != nil && gang.refused > 0 {
			for uid, member := range gang.Members {
				if member.unplaced() && member.Refusal != nil {
					refused = append(refused, uid)
				}
			}
		}
	}
	wake := b.watch(key, change)
	for _, uid := range refused {
		member := b.Member(uid)
		if member != nil && member.unplaced() && b.access(b.gangOf[uid]) != shut && !slices.Contains(wake, member.Pod) {
			wake = append(wake, member.Pod)
		}
	}
	return wake
}

// groupOf returns the gangs that a gang gets nodes together with, itself among them; nil while nothing describes it.
func (b *Book) groupOf(key Key) []Key {
	if gang := b.gangs[key]; gang != nil && gang.Spec != nil {
		return gang.Spec.Group
	}
	return nil
}

// due is true for a pending member that may find a node when no news came since it was tried: in a gang that is wide those that
// were not refused, and in one that is narrow those that were, because without them it is in vain to try the others.
func (b *Book) due(key Key, member *Member) bool {
	switch {
	case !member.unplaced():
		return false
	case b.access(key) == wide:
		return member.Refusal == nil
	case b.access(key) == narrow:
		return member.Refusal != nil
	}
	return false
}

// RefusedForNetwork are the refused members of gangs that have to be close together, for a network that changed.
func (b *Book) RefusedForNetwork() []*corev1.Pod {
	var pods []*corev1.Pod
	for _, gang := range b.gangs {
		if gang.refused == 0 || gang.Spec == nil || gang.Spec.Topology == nil {
			continue
		}
		for _, member := range gang.Members {
			if member.unplaced() && member.Refusal != nil {
				pods = append(pods, member.Pod)
			}
		}
	}
	return pods
}
