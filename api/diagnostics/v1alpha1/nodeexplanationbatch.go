package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeExplanationBatch asks the question of a NodeExplanation about many nodes at once. Create-only.
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
	// Resources to explain: batch-cpu, batch-memory, mid-cpu, mid-memory; default all four, none when the agents are asked.
	// +optional
	Resources []string `json:"resources,omitempty"`
	// MaxParts bounds the parts listed under a term; default 10, at most 1000.
	// +optional
	MaxParts *int32 `json:"maxParts,omitempty"`
	// Agent asks the agents of the nodes, too; then only the resources that are named are explained. Sections pods and audit are told of
	// one node only, by a NodeExplanation.
	// +optional
	Agent *AgentQuestion `json:"agent,omitempty"`
}

// NodeExplanationBatchStatus is the answer.
type NodeExplanationBatchStatus struct {
	// Nodes are the answers about the nodes that exist, in the order of their names in the question.
	// +optional
	Nodes []NodeExplanationStatus `json:"nodes,omitempty"`
}
