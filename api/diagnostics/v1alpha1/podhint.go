package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PodHint is the scheduling hint of a pod: the nodes that it is restricted to, and those that are tried first.
type PodHint struct {
	// Summary is one sentence: who wrote the hint, and what it does.
	Summary string `json:"summary"`
	// Writer is koord-manager for a hint that it wrote for a pod of a query engine; empty for one that came with the pod.
	// +optional
	Writer string `json:"writer,omitempty"`
	// WrittenAt is when that was.
	// +optional
	WrittenAt *metav1.Time `json:"writtenAt,omitempty"`
	// Code of the finding where a hint prefers no node and somebody has to act.
	// +optional
	Code string `json:"code,omitempty"`
	// Only are the nodes that the pod is restricted to; absent for all. At most 100 are listed.
	// +optional
	Only []string `json:"only,omitempty"`
	// Preferred nodes, the one that is tried first first. At most 100 are listed.
	// +optional
	Preferred []HintedNode `json:"preferred,omitempty"`
	// LeftOut are nodes that are not preferred, by reason.
	// +optional
	LeftOut []HintLeftOut `json:"leftOut,omitempty"`
}

// HintedNode is a node that a hint prefers.
type HintedNode struct {
	Node string `json:"node"`
	// Message says what was known of the node when the hint was written; empty where nothing was written down.
	// +optional
	Message string `json:"message,omitempty"`
}

// HintLeftOut is nodes that a hint does not prefer, for one reason.
type HintLeftOut struct {
	Reason string `json:"reason"`
	// Count of nodes.
	Count int32 `json:"count"`
	// Nodes are a few of them, with a number where the reason is about one.
	// +optional
	Nodes []string `json:"nodes,omitempty"`
}
