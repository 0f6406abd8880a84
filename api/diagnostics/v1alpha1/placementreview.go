package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PlacementReview asks the scheduler which nodes running pods would get if they left their nodes, one after the other: each pod finds
// the pods before it on their new nodes. Nothing is moved. Create-only.
//
// +kubebuilder:object:root=true
type PlacementReview struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PlacementReviewSpec `json:"spec"`
	// +optional
	Status PlacementReviewStatus `json:"status,omitempty"`
}

// PlacementReviewSpec is the question.
type PlacementReviewSpec struct {
	// Pods that leave their nodes, in this order; at most 200.
	Pods []PlacementReviewPod `json:"pods"`
	// ExcludedNodes are nodes that take none of the pods, as if they were cordoned. The node that a pod leaves never takes it back.
	// +optional
	ExcludedNodes []string `json:"excludedNodes,omitempty"`
	// MaxNodes bounds the nodes listed in each reason why no node takes a pod; default 5, at most 100.
	// +optional
	MaxNodes *int32 `json:"maxNodes,omitempty"`
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
)

// PlacementReviewStatus is the answer.
type PlacementReviewStatus struct {
	// Placements of the pods, in the order of the question.
	// +optional
	Placements []PodPlacement `json:"placements,omitempty"`
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
	// From is the node that the pod leaves.
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
