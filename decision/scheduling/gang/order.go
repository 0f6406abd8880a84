package gang

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Rank orders a pod in the scheduling queue among those of its priority.
type Rank struct {
	// At is when the pod's gang was first seen; of a pod without a gang, when it was queued.
	At time.Time
	// Gang is zero for a pod without one.
	Gang Key
	// Queued is when the pod itself was queued.
	Queued time.Time
	// Pod orders pods that were queued in the same moment, so that no two pods are of the same rank.
	Pod types.NamespacedName
}

// Compare orders older gangs and pods first, and the members of one gang one after the other.
func (r Rank) Compare(other Rank) int {
	if c := r.At.Compare(other.At); c != 0 {
		return c
	}
	return cmp.Or(compareKeys(r.Gang, other.Gang), r.Queued.Compare(other.Queued), cmp.Compare(r.Pod.Namespace, other.Pod.Namespace), cmp.Compare(r.Pod.Name, other.Pod.Name))
}
