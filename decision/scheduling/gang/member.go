package gang

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
)

// Phase is where a member stands.
type Phase int8

const (
	// Pending has no node.
	Pending Phase = iota
	// Waiting has a node reserved, and waits for the others.
	Waiting
	// Releasing waited, and is giving its node back.
	Releasing
	// Binding may be bound, and the binding is not known yet.
	Binding
	// Bound has its node for good.
	Bound
)

var phaseNames = [...]string{"pending", "waiting", "releasing", "binding", "bound"}

// String names the phase.
func (p Phase) String() string { return phaseNames[p] }

// Member of a gang.
type Member struct {
	// Pod as it was seen last. It must not be changed.
	Pod   *corev1.Pod
	Phase Phase
	// Node of a member that is not pending.
	Node string
	// Refusal of the latest attempt; nil when it was not refused, or found a node since.
	Refusal *Refusal

	// took and refused are when it took its node and when it was refused last, by the book's count of both.
	took, refused int64
	// gave is when it took the node that it gave back last because its group was rejected; zero when that was told.
	gave int64
}

// Refusal is why a member found no node.
type Refusal struct {
	Reason string
	At     time.Time
	// Waiting is the number of members of the gang that had a node by then.
	Waiting int
}

// UID of the member's pod.
func (m *Member) UID() types.UID { return m.Pod.UID }

// leaving pods are deleted before they ran. The scheduler does not try them any more.
func (m *Member) leaving() bool { return m.Phase != Bound && m.Pod.DeletionTimestamp != nil }

// unplaced members have no node, or are giving theirs back, and want one.
func (m *Member) unplaced() bool { return (m.Phase == Pending || m.Phase == Releasing) && !m.leaving() }

// proof is true for a bound member that was bound with its gang.
func (m *Member) proof() bool {
	if m.Phase != Bound {
		return false
	}
	annotations := m.Pod.Annotations
	return annotations[extension.AnnotationBindGangGroupID] != "" || annotations[extension.DeprecatedAnnotationBindGangGroupID] != ""
}

// nameOf is the name that messages call a pod by.
func nameOf(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }
