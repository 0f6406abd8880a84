package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeExplanationBatch is a NodeExplanation for many nodes in one request. Create-only.
//
// +kubebuilder:object:root=true
type NodeExplanationBatch struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec NodeExplanationBatchSpec `json:"spec"`
	// +optional
	Status NodeExplanationBatchStatus `json:"status,omitempty"`
}

// NodeExplanationBatchSpec is the question.
type NodeExplanationBatchSpec struct {
	// NodeNames to explain, at most 200.
	NodeNames []string `json:"nodeNames"`
	// Resources to explain: batch-cpu, batch-memory, mid-cpu, mid-memory; default all four, none when agent is set.
	// +optional
	Resources []string `json:"resources,omitempty"`
	// MaxParts bounds the parts listed under a term; default 10, at most 1000.
	// +optional
	MaxParts *int32 `json:"maxParts,omitempty"`
	// Agent also queries koordlet on the nodes; then only the listed resources are explained. Sections pods and audit are supported for
	// a single node only, by a NodeExplanation.
	// +optional
	Agent *AgentQuestion `json:"agent,omitempty"`
	// Outlook also asks what the nodes will offer at least of the resources, as far as that is predicted.
	// +optional
	Outlook bool `json:"outlook,omitempty"`
}

// NodeExplanationBatchStatus is the answer.
type NodeExplanationBatchStatus struct {
	// Nodes are the answers about the nodes that exist, in the order of their names in the question.
	// +optional
	Nodes []NodeExplanationStatus `json:"nodes,omitempty"`
}
