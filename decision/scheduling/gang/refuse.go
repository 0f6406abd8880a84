package gang

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Rejection is what the failure of one member means for the others.
type Rejection struct {
	// Reason for the members that are rejected; empty when none are.
	Reason string
	// Release are the waiting members that have to give their nodes back.
	Release []types.UID
	// Try are members to be tried again, because the gang may do without those that failed.
	Try []*corev1.Pod
}

// Fail notes that a member found no node. In a Strict gang that has not run, all waiting members of the group are to be
// released; they are marked by Release.
func (b *Book) Fail(key Key, uid types.UID, reason string, now time.Time) Rejection {
	gang := b.gangs[key]
	if gang == nil || gang.Members[uid] == nil || !b.Together(key) {
		return Rejection{}
	}
	member, release := gang.Members[uid], b.Waiting(key)
	b.refuse(gang, member, &Refusal{Reason: reason, At: now, Waiting: len(release)})
	rejection := Rejection{Reason: Rejected(gang.Spec.Group, member.Pod, reason, len(release)), Release: release}
	if len(release) > 0 && b.open(key) {
		rejection.Try = b.others(gang.Spec.Group, release)
	}
	return rejection
}

// refuse notes why and when a member found no node.
func (b *Book) refuse(gang *Gang, member *Member, refusal *Refusal) {
	b.moment++
	member.refused = b.moment
	gang.refuse(member, refusal)
}

// ForgetRefusals makes members of a gang and of its group such as have not been tried.
func (b *Book) ForgetRefusals(key Key) {
	gang := b.gangs[key]
	if gang == nil || gang.Spec == nil {
		return
	}
	for _, name := range gang.Spec.Group {
		other := b.gangs[name]
		if other == nil {
			continue
		}
		for _, member := range other.Members {
			other.refuse(member, nil)
		}
	}
}

// others are the pending members of a group that are due, and those listed.
func (b *Book) others(group []Key, listed []types.UID) []*corev1.Pod {
	pods := b.pending(group)
	for _, uid := range listed {
		pods = append(pods, b.Member(uid).Pod)
	}
	return pods
}

// Unplace notes that a member lost the node it had found: it waited too long, could not be bound, is gone, or another plugin
// did not let it have the node, which is a refusal of that plugin. In a Strict gang that has not run, all waiting members are to
// be released, and tried again. In others the member alone is tried again, if it had been let through to wait.
func (b *Book) Unplace(key Key, pod *corev1.Pod, now time.Time) Rejection {
	gang := b.gangs[key]
	if gang == nil {
		return Rejection{}
	}
	member := gang.Members[pod.UID]
	if member == nil && (gang.Spec == nil || gang.counts.Children >= int(gang.Spec.MinMember)) {
		return Rejection{} // it was deleted, and there are enough without it
	}
	waited := false
	if member != nil {
		if member.Phase == Bound {
			return Rejection{}
		}
		released := member.Phase == Releasing
		waited = member.Phase == Waiting || member.Phase == Binding
		member.Node = ""
		gang.move(member, Pending)
		if released {
			member.give()
			return Rejection{}
		}
	}
	if !b.Together(key) {
		if waited {
			return Rejection{Try: []*corev1.Pod{member.Pod}}
		}
		return Rejection{}
	}
	release := b.Waiting(key)
	if member != nil && !waited && !member.leaving() {
		b.refuse(gang, member, &Refusal{Reason: lostNode, At: now, Waiting: len(release)})
	}
	rejection := Rejection{Reason: lost(key, pod), Release: release}
	if b.open(key) {
		rejection.Try = b.others(gang.Spec.Group, release)
	}
	return rejection
}

// Release marks a waiting member as one that gives its node back. It returns false for one that does not wait. The member is to
// be tried again when that is returned: the gang has changed since its members were rejected, and whom that woke was decided
// while this one still waited.
func (b *Book) Release(uid types.UID) (released bool, again *corev1.Pod) {
	key := b.gangOf[uid]
	gang := b.gangs[key]
	if gang == nil || gang.Members[uid].Phase != Waiting {
		return false, nil
	}
	gang.move(gang.Members[uid], Releasing)
	if b.open(key) {
		again = gang.Members[uid].Pod
	}
	return true, again
}
