package gang

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// Permission is the answer to a member that found a node.
type Permission struct {
	// Refused is not passed for a member whose gang vanished meanwhile.
	Refused Verdict
	// Wait is how long the member has to wait for the others; 0 when it may be bound.
	Wait time.Duration
	// Allow are the waiting members that may be bound now, this one not among them.
	Allow []types.UID
	// Try are pending members to be tried without delay, because this one waits for them. Those that found no node are not among
	// them, unless it waits in vain without them.
	Try []*corev1.Pod
}

// Permit decides on a member that found a node: it may be bound, with all members that wait, once every gang of its group is
// complete, and waits until then.
func (b *Book) Permit(key Key, uid types.UID, node string) Permission {
	gang := b.gangs[key]
	if gang == nil || gang.Spec == nil || gang.Members[uid] == nil {
		return Permission{Refused: Verdict{Code: finding.GangNotFound, Gangs: []Key{key}, Reason: vanished(key)}}
	}
	member := gang.Members[uid]
	member.Node = node
	first := !b.anyWaiting(gang.Spec.Group) || member.Refusal != nil
	try := b.place(gang, member)
	if b.Complete(key) {
		allow := b.Waiting(key)
		b.Allow(allow)
		return Permission{Allow: without(allow, uid), Try: try}
	}
	if first {
		try = append(outside(try, gang.Spec.Group), b.pending(gang.Spec.Group)...)
	}
	return Permission{Wait: gang.Spec.WaitTime, Try: try}
}

// place has a member wait. It returns the pending pods that may be tried because it is no longer refused, also of gangs that
// this one does not name in its group.
func (b *Book) place(gang *Gang, member *Member) []*corev1.Pod {
	b.moment++
	member.took = b.moment
	if member.Refusal == nil {
		gang.move(member, Waiting)
		return nil
	}
	return b.watch(gang.Key, func() {
		gang.refuse(member, nil)
		gang.move(member, Waiting)
	})
}

// outside are those of the pods whose gangs are not in the group.
func outside(pods []*corev1.Pod, group []Key) []*corev1.Pod {
	return slices.DeleteFunc(pods, func(pod *corev1.Pod) bool {
		key, _ := KeyOf(pod)
		return slices.Contains(group, key)
	})
}

// Complete is true when enough members of every gang of the group have a node.
func (b *Book) Complete(key Key) bool {
	gang := b.gangs[key]
	if gang == nil || gang.Spec == nil {
		return false
	}
	for _, name := range gang.Spec.Group {
		if other := b.gangs[name]; other == nil || !other.complete() {
			return false
		}
	}
	return true
}

// complete compares the members that have a node with how many must run together. A gang that is bound in part, because the
// scheduler was stopped in the middle, goes on from there, whatever its policy.
func (g *Gang) complete() bool {
	if g.Spec == nil || g.Spec.MinMember == 0 {
		return false
	}
	if g.done() {
		return true
	}
	counted, minimum := g.counts.Placed(), int(g.Spec.MinMember)
	if g.Spec.MatchPolicy == extension.GangMatchPolicyOnlyWaiting && g.counts.Bound >= minimum {
		counted -= g.counts.Bound
	}
	return counted >= minimum
}

// Waiting members of the group, in order.
func (b *Book) Waiting(key Key) []types.UID {
	gang := b.gangs[key]
	if gang == nil || gang.Spec == nil {
		return nil
	}
	var waiting []types.UID
	for _, name := range gang.Spec.Group {
		other := b.gangs[name]
		if other == nil || other.counts.Waiting == 0 {
			continue
		}
		for uid, member := range other.Members {
			if member.Phase == Waiting {
				waiting = append(waiting, uid)
			}
		}
	}
	slices.Sort(waiting)
	return waiting
}

// Allow lets waiting members be bound.
func (b *Book) Allow(members []types.UID) {
	for _, uid := range members {
		if gang := b.gangs[b.gangOf[uid]]; gang != nil && gang.Members[uid].Phase == Waiting {
			gang.move(gang.Members[uid], Binding)
		}
	}
}

// Bound notes that a member was bound, before the cluster says so. It returns the pending pods that may be tried because of
// it and might not before.
func (b *Book) Bound(uid types.UID) []*corev1.Pod {
	key, known := b.gangOf[uid]
	if !known {
		return nil
	}
	return b.watch(key, func() {
		gang := b.gangs[key]
		gang.move(gang.Members[uid], Bound)
		b.settle(gang)
	})
}

func (b *Book) anyWaiting(group []Key) bool {
	for _, name := range group {
		if gang := b.gangs[name]; gang != nil && gang.counts.Waiting > 0 {
			return true
		}
	}
	return false
}

// pending members of a group that are due.
func (b *Book) pending(group []Key) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, name := range group {
		gang := b.gangs[name]
		if gang == nil {
			continue
		}
		for _, member := range gang.Members {
			if b.due(name, member) {
				pods = append(pods, member.Pod)
			}
		}
	}
	return pods
}

func without(list []types.UID, uid types.UID) []types.UID {
	for i, listed := range list {
		if listed == uid {
			list[i] = list[len(list)-1]
			return list[:len(list)-1]
		}
	}
	return list
}

// Stalled returns the gang, and those that name it in their groups, if their group is complete and members of it wait all
// the same: it was completed by a change of rules, or by a member that was bound.
func (b *Book) Stalled(key Key) []Key {
	var stalled []Key
	check := func(key Key) {
		if gang := b.gangs[key]; gang != nil && gang.Spec != nil && b.anyWaiting(gang.Spec.Group) && b.Complete(key) {
			stalled = append(stalled, key)
		}
	}
	check(key)
	for other := range b.listedBy[key] {
		check(other)
	}
	return stalled
}
