package gang

import (
	"slices"
	"time"

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
		return Verdict{Code: finding.GangNotFound, Gangs: []Key{key}, Reason: unknown(key)}
	}
	group := gang.Spec.Group
	if b.done(group) || b.ready(gang) {
		return Verdict{}
	}
	byLack := map[finding.Code][]Key{}
	for _, name := range group {
		code := b.lack(name)
		byLack[code] = append(byLack[code], name)
	}
	for _, lack := range lacks {
		if gangs := byLack[lack.code]; len(gangs) > 0 {
			return Verdict{Code: lack.code, Gangs: gangs, Reason: lacking(group, gangs, lack.text, key)}
		}
	}
	return Verdict{}
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
// refused a moment ago. A refused member may always be tried: the others wait for it to find a node, so that it must not wait
// for them.
func (b *Book) Admit(key Key, uid types.UID, now time.Time) Verdict {
	if verdict := b.Ready(key); !verdict.Passed() {
		return verdict
	}
	group := b.gangs[key].Spec.Group
	if b.done(group) || b.gangs[key].hasRefused(uid) {
		return Verdict{}
	}
	for _, name := range group {
		gang := b.gangs[name]
		if !gang.blocks(gang.refused) {
			continue
		}
		if refused, count := gang.latestRefused(now); gang.blocks(count) {
			return Verdict{
				Code: finding.GangMemberRefused, Gangs: []Key{name}, Refused: refused,
				Reason: Rejected(group, refused.Pod, refused.Refusal.Reason, refused.Refusal.Waiting),
			}
		}
	}
	return Verdict{}
}

func (g *Gang) hasRefused(uid types.UID) bool {
	member := g.Members[uid]
	return member != nil && member.Refusal != nil
}

// blocks is true when a Strict gang cannot do without that many refused members.
func (g *Gang) blocks(refused int) bool {
	return refused > 0 && g.strict() && !g.done() && g.counts.Children-refused < int(g.Spec.MinMember)
}

// latestRefused returns the member refused last, and counts those whose refusal stands.
func (g *Gang) latestRefused(now time.Time) (latest *Member, count int) {
	for _, member := range g.Members {
		if member.Refusal == nil || member.leaving() || now.Sub(member.Refusal.At) > refusalStands {
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

// Together is true for a Strict gang that has not run: its members get nodes together or not at all.
func (b *Book) Together(key Key) bool {
	gang := b.gangs[key]
	return gang != nil && gang.Spec != nil && gang.strict() && !b.done(gang.Spec.Group)
}

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
