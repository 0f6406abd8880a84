package gang

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
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

// gained adds the members of a gang that have access and had none before.
func (b *Book) gained(key Key, before access, wake []*corev1.Pod) []*corev1.Pod {
	now := b.access(key)
	if now <= before {
		return wake
	}
	for _, member := range b.gangs[key].Members {
		if member.unplaced() && (now == wide || member.Refusal != nil) {
			wake = append(wake, member.Pod)
		}
	}
	return wake
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
