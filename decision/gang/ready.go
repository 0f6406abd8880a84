package gang

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// refusalStands is how long a refusal keeps other members from being tried, unless the refused member finds a node before.
// The refused member itself is tried whenever its reason may have changed.
const refusalStands = time.Minute

// Verdict on whether a member may be tried. The zero value passes.
type Verdict struct {
	Code finding.Code
	// Reason as it stands in events; empty for a member that may be tried.
	Reason string
	// Gangs that the verdict is about.
	Gangs []Key
	// Refused is the member that the gang cannot do without.
	Refused *Member
}

// Passed is true when the member may be tried.
func (v Verdict) Passed() bool { return v.Code == "" }

// Ready says whether the members of a gang exist, so that trying one of them makes sense.
func (b *Book) Ready(key Key) Verdict {
	gang := b.gangs[key]
	if gang == nil || gang.Spec == nil {
		return Verdict{Code: finding.GangNotFound, Gangs: []Key{key}, Reason: fmt.Sprintf("gang %q has not init: there is no PodGroup of that name, and no pod says how many members it needs", key)}
	}
	group := gang.Spec.Group
	if b.done(group) || b.ready(gang) {
		return Verdict{}
	}
	lacking := map[finding.Code][]Key{}
	for _, name := range group {
		code := b.lack(name)
		lacking[code] = append(lacking[code], name)
	}
	for _, lack := range lacks {
		if gangs := lacking[lack.code]; len(gangs) > 0 {
			return Verdict{Code: lack.code, Gangs: gangs, Reason: fmt.Sprintf("gangGroup %v basic check: memberGangs %+v %s, current gang: %s", group, gangs, lack.text, key)}
		}
	}
	return Verdict{}
}

// lacks of gangs in the order in which they are told.
var lacks = []struct {
	code finding.Code
	text string
}{
	{finding.GangGroupMissing, "doesn't exists"},
	{finding.GangInvalid, "has not init"},
	{finding.GangMembersMissing, "child pod not collect enough"},
}

// lack says what is missing before the members of one gang may be tried.
func (b *Book) lack(key Key) finding.Code {
	switch gang := b.gangs[key]; {
	case gang == nil || len(gang.Members) == 0 && gang.Spec == nil:
		return finding.GangGroupMissing
	case gang.Spec == nil || gang.Spec.MinMember == 0:
		return finding.GangInvalid
	case gang.counts.Children < int(gang.Spec.MinMember) && !gang.done():
		return finding.GangMembersMissing
	}
	return ""
}

func (b *Book) ready(gang *Gang) bool {
	return !slices.ContainsFunc(gang.Spec.Group, func(key Key) bool { return b.lack(key) != "" })
}

// Admit says whether a member may be tried now: its gangs are ready, and no other member that they cannot do without was
// refused a moment ago. The refused member itself may be tried.
func (b *Book) Admit(key Key, uid types.UID, now time.Time) Verdict {
	if verdict := b.Ready(key); !verdict.Passed() {
		return verdict
	}
	group := b.gangs[key].Spec.Group
	if b.done(group) {
		return Verdict{}
	}
	for _, name := range group {
		gang := b.gangs[name]
		if !gang.blocks(gang.others(uid)) {
			continue
		}
		if refused, count := gang.latestRefused(uid, now); gang.blocks(count) {
			return Verdict{
				Code: finding.GangMemberRefused, Gangs: []Key{name}, Refused: refused,
				Reason: rejected(group, refused.Pod, refused.Refusal.Reason, refused.Refusal.Waiting),
			}
		}
	}
	return Verdict{}
}

// others is the number of refused members besides one.
func (g *Gang) others(uid types.UID) int {
	if member := g.Members[uid]; member != nil && member.Refusal != nil && !member.leaving() {
		return g.refused - 1
	}
	return g.refused
}

// blocks is true when a Strict gang cannot do without that many refused members.
func (g *Gang) blocks(refused int) bool {
	return refused > 0 && g.strict() && !g.done() && g.counts.Children-refused < int(g.Spec.MinMember)
}

// latestRefused returns the member refused last, besides one, and counts those whose refusal stands.
func (g *Gang) latestRefused(uid types.UID, now time.Time) (latest *Member, count int) {
	for _, member := range g.Members {
		if member.Refusal == nil || member.Pod.UID == uid || member.leaving() || now.Sub(member.Refusal.At) > refusalStands {
			continue
		}
		count++
		if latest == nil || member.Refusal.At.After(latest.Refusal.At) || member.Refusal.At.Equal(latest.Refusal.At) && older(member.Pod, latest.Pod) {
			latest = member
		}
	}
	return latest, count
}

func (g *Gang) strict() bool { return g.Spec != nil && g.Spec.Mode == extension.GangModeStrict }

// done is true for a gang whose members no longer wait for each other: it ran once, and that is all its policy asks for. A
// gang of which fewer members are left than must run together ran, if one of them was bound with it.
func (g *Gang) done() bool {
	if g.Spec == nil || g.Spec.MatchPolicy != extension.GangMatchPolicyOnceSatisfied || g.Spec.MinMember == 0 {
		return false
	}
	return g.Ran() || g.proven > 0 && g.counts.Children < int(g.Spec.MinMember)
}

func (b *Book) done(group []Key) bool {
	for _, name := range group {
		if gang := b.gangs[name]; gang == nil || !gang.done() {
			return false
		}
	}
	return true
}

// open is true when members that were not refused themselves may be tried.
func (b *Book) open(key Key) bool {
	gang := b.gangs[key]
	if gang == nil || gang.Spec == nil {
		return false
	}
	group := gang.Spec.Group
	return b.done(group) || b.ready(gang) && !slices.ContainsFunc(group, func(name Key) bool { return b.gangs[name].blocks(b.gangs[name].refused) })
}

// watch makes a change to a gang, and returns the pending members of the gangs that it opens.
func (b *Book) watch(key Key, change func()) []*corev1.Pod {
	open := b.open(key)
	var others map[Key]bool
	for other := range b.listedBy[key] {
		if others == nil {
			others = map[Key]bool{}
		}
		others[other] = b.open(other)
	}
	change()
	wake := b.opened(key, open, nil)
	for other := range b.listedBy[key] {
		wake = b.opened(other, others[other], wake)
	}
	return wake
}

func (b *Book) opened(key Key, before bool, wake []*corev1.Pod) []*corev1.Pod {
	if before || !b.open(key) {
		return wake
	}
	for _, member := range b.gangs[key].Members {
		if (member.Phase == Pending || member.Phase == Releasing) && !member.leaving() {
			wake = append(wake, member.Pod)
		}
	}
	return wake
}

// rejected is upstream's text for members that do not get a node because another one did not.
func rejected(group []Key, refused *corev1.Pod, reason string, waiting int) string {
	return fmt.Sprintf("GangGroup %q gets rejected due to member Pod %q is unschedulable with reason %q, alreadyWaitForBound: %d", fmt.Sprint(group), nameOf(refused), reason, waiting)
}
