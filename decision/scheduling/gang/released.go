package gang

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Released is what a member held while it waited, and gave back because its group was rejected.
type Released struct {
	key  Key
	took int64
}

// give notes that a member that was rejected has given its node back. What it gave back before and was not told yet counts
// more, because more members were refused since it was taken.
func (m *Member) give() {
	if m.gave == 0 || m.took < m.gave {
		m.gave = m.took
	}
}

// TakeReleased returns the room that a member gave back, once; false when it gave none back, or will not want it again.
func (b *Book) TakeReleased(uid types.UID) (Released, bool) {
	member := b.Member(uid)
	if member == nil || member.gave == 0 {
		return Released{}, false
	}
	released := Released{key: b.gangOf[uid], took: member.gave}
	member.gave = 0
	return released, !member.leaving() && member.Phase != Bound
}

// MayUseReleased says whether a pod may find a node because of room that was given back. For most pods that is so. It is not for
// a refused member of the same group: it was refused beside those who held the room, and they want it again. Nor is it for a refused
// member of another group if the room was taken after it was refused: it was free when that member found none. Without this,
// gangs that do not fit would take turns with the same room for ever, within a gang as well as among gangs.
func (b *Book) MayUseReleased(released Released, uid types.UID) bool {
	key, member := b.gangOf[uid], b.Member(uid)
	if member == nil || member.Refusal == nil || !b.Together(key) {
		return true
	}
	return !slices.Contains(b.groupOf(key), released.key) && released.took < member.refused
}
