package quotas

import (
	"maps"

	"k8s.io/apimachinery/pkg/types"
)

// minEdits is how many edits a roster may have on top of a shared base, however small that is, before they are merged.
const minEdits = 64

// roster holds the pods that count. Forks share a base that none of them changes any more, and each has its own edits on top,
// so that a fork costs as much as there are edits, and not as there are pods.
type roster struct {
	base map[types.UID]*holding
	// edits replace what base has, nil for a pod that is gone. They are empty unless shared is true.
	edits map[types.UID]*holding
	// shared is true once another roster has the same base.
	shared bool
}

func newRoster() roster { return roster{base: map[types.UID]*holding{}} }

// fork returns an independent copy.
func (r *roster) fork() roster {
	r.shared = true
	return roster{base: r.base, edits: maps.Clone(r.edits), shared: true}
}

// get returns nil for a pod that does not count.
func (r *roster) get(uid types.UID) *holding {
	if pod, edited := r.edits[uid]; edited {
		return pod
	}
	return r.base[uid]
}

// set takes over a pod, nil for one that is gone.
func (r *roster) set(uid types.UID, pod *holding) {
	if r.shared {
		if r.edits == nil {
			r.edits = map[types.UID]*holding{}
		}
		r.edits[uid] = pod
		if len(r.edits) > max(minEdits, len(r.base)/8) {
			r.merge()
		}
		return
	}
	if pod == nil {
		delete(r.base, uid)
		return
	}
	r.base[uid] = pod
}

// merge gives the roster its own base, whose cost, spread over the edits, is that of copying a few pods for each.
func (r *roster) merge() {
	merged := maps.Clone(r.base)
	for uid, pod := range r.edits {
		if pod == nil {
			delete(merged, uid)
		} else {
			merged[uid] = pod
		}
	}
	*r = roster{base: merged}
}

// all yields the pods in no order. The roster must not change meanwhile.
func (r *roster) all(yield func(*holding) bool) {
	for uid, pod := range r.base {
		if _, edited := r.edits[uid]; !edited && !yield(pod) {
			return
		}
	}
	for _, pod := range r.edits {
		if pod != nil && !yield(pod) {
			return
		}
	}
}
