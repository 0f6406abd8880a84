package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EvictionExplanation is who could evict a pod now: `koordctl explain eviction`. No server answers it.
//
// +kubebuilder:object:root=true
type EvictionExplanation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// NodeName is the node of the pod; empty when it has none.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// Message is the answer in one sentence.
	Message string `json:"message"`
	// Evictors in the order in which they could evict the pod.
	Evictors []PodEvictor `json:"evictors"`
	// Budgets are the PodDisruptionBudgets that select the pod.
	// +optional
	Budgets []PodBudget `json:"budgets,omitempty"`
	// Incomplete names what could not be read, and why; empty when the answer is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// PodEvictor is one that evicts pods, and what it could do to the pod.
type PodEvictor struct {
	// Name is kubelet, preemption, agent, quota, descheduler or drain.
	Name string `json:"name"`
	// State is now, possible, protected or unknown.
	State string `json:"state"`
	// Needs is what has to happen before it evicts the pod.
	// +optional
	Needs []string `json:"needs,omitempty"`
	// Protections are what keeps it from evicting the pod.
	// +optional
	Protections []string `json:"protections,omitempty"`
	// Unknown is what is not known of it: it may be able to evict the pod earlier than its state says.
	// +optional
	Unknown []string `json:"unknown,omitempty"`
	// IgnoresBudgets is true when PodDisruptionBudgets do not hold it back.
	// +optional
	IgnoresBudgets bool `json:"ignoresBudgets,omitempty"`
}

// PodBudget is a PodDisruptionBudget that selects the pod.
type PodBudget struct {
	Name               string `json:"name"`
	DisruptionsAllowed int32  `json:"disruptionsAllowed"`
	CurrentHealthy     int32  `json:"currentHealthy"`
	DesiredHealthy     int32  `json:"desiredHealthy"`
}
