package gang

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
)

// Beginnings and middles of refusals as they stand in events, which tell them apart.
const (
	beginGang    = "gang "
	hasNotInit   = " has not init: "
	beginPermit  = "Gang "
	notFound     = " not found"
	inUnreserve  = " in Unreserve"
	beginGroup   = "gangGroup "
	basicCheck   = " basic check: memberGangs "
	currentGang  = ", current gang: "
	beginRefused = "GangGroup "
	dueToMember  = " gets rejected due to member Pod "
	dueToPod     = " gets rejected due to Pod "
	// lostNode is the reason for a member that another plugin did not let have the node that it had found.
	lostNode = "it found a node, and a plugin did not let it have that"
	// waitedTooLong begins what the scheduler itself says of members that waited in Permit.
	waitedTooLong = "rejected due to timeout after waiting "
)

// lacks of gangs in the order in which they are told.
var lacks = []struct {
	code finding.Code
	text string
}{
	{finding.GangGroupMissing, "doesn't exists"},
	{finding.GangInvalid, "has not init"},
	{finding.GangMembersMissing, "child pod not collect enough"},
}

// unknown is the reason for members of a gang that nothing describes.
func unknown(key Key) string {
	return fmt.Sprintf(beginGang+"%q"+hasNotInit+"there is no PodGroup of that name, and no pod says how many members it needs", key)
}

// vanished is the reason for a member that found a node when its gang was gone.
func vanished(key Key) string { return fmt.Sprintf(beginPermit+"%q"+notFound, key) }

// lacking is the reason for members of a group of which some gangs lack something.
func lacking(group, gangs []Key, lack string, current Key) string {
	return fmt.Sprintf(beginGroup+"%v"+basicCheck+"%+v %s"+currentGang+"%s", group, gangs, lack, current)
}

// Rejected is upstream's text for members that do not get a node because another one did not. waiting counts the members that had a
// node by then.
func Rejected(group []Key, refused *corev1.Pod, reason string, waiting int) string {
	return fmt.Sprintf(beginRefused+"%q"+dueToMember+"%q is unschedulable with reason %q, alreadyWaitForBound: %d", fmt.Sprint(group), nameOf(refused), reason, waiting)
}

// lost is upstream's text for members that give their nodes back because another one lost its own.
func lost(key Key, pod *corev1.Pod) string {
	return fmt.Sprintf(beginPermit+"%q"+dueToPod+"%q"+inUnreserve, key, nameOf(pod))
}

// CodeOf returns the code of a reason that this package gives, empty for any other text. A member that waited too long, or gave
// its node back because of another one, counts as refused because of that one.
func CodeOf(reason string) finding.Code {
	within := func(begin, middle string) bool {
		return strings.HasPrefix(reason, begin) && strings.Contains(reason, middle)
	}
	switch {
	case strings.HasPrefix(reason, waitedTooLong), within(beginRefused, dueToMember):
		return finding.GangMemberRefused
	case within(beginPermit, dueToPod) && strings.HasSuffix(reason, inUnreserve):
		return finding.GangMemberRefused
	case within(beginGang, hasNotInit), strings.HasPrefix(reason, beginPermit) && strings.HasSuffix(reason, notFound):
		return finding.GangNotFound
	case within(beginGroup, basicCheck):
		return codeOfLack(reason)
	}
	return ""
}

// codeOfLack looks behind the lists of gangs, whose names hold no blanks.
func codeOfLack(reason string) finding.Code {
	for _, lack := range lacks {
		if strings.Contains(reason, "] "+lack.text+currentGang) {
			return lack.code
		}
	}
	return ""
}
