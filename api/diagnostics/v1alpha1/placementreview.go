package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PlacementReview asks the scheduler which nodes pods would get, one after the other: running pods that leave their nodes, pods that wait
// for a node, and copies of pods; also with more nodes than there are, and where nodes offer something else. Each pod finds the pods before it on their new nodes. Nothing is
// moved or created. Create-only.
//
// +kubebuilder:object:root=true
type PlacementReview struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PlacementReviewSpec `json:"spec"`
	// +optional
	Status PlacementReviewStatus `json:"status,omitempty"`
}

// PlacementReviewSpec is the question. At least one of pods, waiting and copies is required.
type PlacementReviewSpec struct {
	// Offers are what nodes have allocatable in the place of what they have, before new nodes join and any pod is placed; at most 10,000.
	// +optional
	Offers []PlacementReviewOffer `json:"offers,omitempty"`
	// NewNodes join the cluster before any pod is placed; at most 100 in all.
	// +optional
	NewNodes []PlacementReviewNodes `json:"newNodes,omitempty"`
	// Pods that leave their nodes, in this order; at most 200.
	// +optional
	Pods []PlacementReviewPod `json:"pods,omitempty"`
	// Waiting places the pods that wait for a node after these pods, in the order of the scheduler's queue; at most 200 together with them.
	// +optional
	Waiting bool `json:"waiting,omitempty"`
	// Copies are placed last; at most 10 of these, with 1,000 pods in all.
	// +optional
	Copies []PlacementReviewCopies `json:"copies,omitempty"`
	// ExcludedNodes are nodes that take none of the pods, as if they were cordoned. The node that a pod leaves never takes it back.
	// +optional
	ExcludedNodes []string `json:"excludedNodes,omitempty"`
	// MaxNodes bounds the nodes listed in each reason why no node takes a pod; default 5, at most 100.
	// +optional
	MaxNodes *int32 `json:"maxNodes,omitempty"`
}

// PlacementReviewOffer is what one node offers. Pods on it stay, also where they request more than that.
type PlacementReviewOffer struct {
	// Node is the name of a node that exists.
	Node string `json:"node"`
	// Allocatable resources; those that are not named stay as they are. Zero offers none.
	Allocatable corev1.ResourceList `json:"allocatable"`
}

// PlacementReviewNodes are new nodes like one that exists: with its labels, taints and resources, its pods of DaemonSets and its mirror
// pods, and nothing else. Their agents report what that of the existing node reports.
type PlacementReviewNodes struct {
	// Like is the name of the existing node.
	Like string `json:"like"`
	// Count of new nodes; at least 1.
	Count int32 `json:"count"`
}

// PlacementReviewCopies are pods like one that exists, which is not moved. Each gets a node before the next one is placed; the first that
// gets none ends them. PersistentVolumeClaims of the pod are left out.
type PlacementReviewCopies struct {
	// Namespace and Like are those of the pod that is copied.
	Namespace string `json:"namespace"`
	Like      string `json:"like"`
	// UID of the pod; when set, another pod of the same name is not meant.
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// Count of copies; at least 1.
	Count int32 `json:"count"`
}

// PlacementReviewPod is a pod that leaves its node.
type PlacementReviewPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// UID of the pod; when set, another pod of the same name is not meant.
	// +optional
	UID types.UID `json:"uid,omitempty"`
	// Targets are the nodes to try, in this order; the first that passes all filters is taken. Empty tries all nodes, and takes the one
	// that scores highest.
	// +optional
	Targets []string `json:"targets,omitempty"`
}

// PlacementVerdict is the answer about one pod.
type PlacementVerdict string

const (
	// PlacementFound names the node that the pod would get.
	PlacementFound PlacementVerdict = "Found"
	// PlacementNone is about a pod that no node takes. The pods after it find it on the node where it is now.
	PlacementNone PlacementVerdict = "None"
	// PlacementGone is about a pod that does not exist any more, or has another UID.
	PlacementGone PlacementVerdict = "Gone"
	// PlacementNotBound is about a pod that has no node to leave.
	PlacementNotBound PlacementVerdict = "NotBound"
	// PlacementOtherScheduler is about a pod that another scheduler places.
	PlacementOtherScheduler PlacementVerdict = "OtherScheduler"
	// PlacementGated is about a waiting pod that the scheduler does not try yet.
	PlacementGated PlacementVerdict = "Gated"
)

// PlacementReviewStatus is the answer.
type PlacementReviewStatus struct {
	// Offers counts the nodes that offer something else in this answer.
	// +optional
	Offers int32 `json:"offers,omitempty"`
	// NewNodes are the names that new nodes have in this answer.
	// +optional
	NewNodes []string `json:"newNodes,omitempty"`
	// Placements of the pods, in the order of the question, and then of the waiting ones in that of the queue.
	// +optional
	Placements []PodPlacement `json:"placements,omitempty"`
	// Copies, in the order of the question.
	// +optional
	Copies []CopiesPlacement `json:"copies,omitempty"`
	// Incomplete says what could not be evaluated, and why.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
	// Origin of the answer.
	Origin Origin `json:"origin"`
}

// PodPlacement is the node that one pod would get.
type PodPlacement struct {
	Namespace string           `json:"namespace"`
	Name      string           `json:"name"`
	Verdict   PlacementVerdict `json:"verdict"`
	// From is the node that the pod leaves; empty for a waiting pod.
	// +optional
	From string `json:"from,omitempty"`
	// Node that the pod would get.
	// +optional
	Node string `json:"node,omitempty"`
	// Summary is one sentence, like that of the scheduler's events.
	Summary string `json:"summary"`
	// Groups are the reasons for which nodes refuse the pod, where none takes it.
	// +optional
	Groups []RefusalGroup `json:"groups,omitempty"`
}

// CopiesPlacement are the nodes that copies of one pod would get.
type CopiesPlacement struct {
	Namespace string `json:"namespace"`
	Like      string `json:"like"`
	// Verdict is Found when no copy was refused, None when one was, Gone and OtherScheduler as for a pod.
	Verdict PlacementVerdict `json:"verdict"`
	// Asked copies, and Placed of them.
	Asked  int32 `json:"asked"`
	Placed int32 `json:"placed"`
	// Nodes that take the copies, ordered by name.
	// +optional
	Nodes []CopiesOnNode `json:"nodes,omitempty"`
	// Summary is one sentence; where a copy was refused, that about this copy, like that of the scheduler's events.
	Summary string `json:"summary"`
	// Groups are the reasons for which nodes refuse it.
	// +optional
	Groups []RefusalGroup `json:"groups,omitempty"`
}

// CopiesOnNode counts the copies that one node takes.
type CopiesOnNode struct {
	Name   string `json:"name"`
	Copies int32  `json:"copies"`
}
