package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ObjectTimeline is what happened to an object other than a pod, and to the pods below it, as events, its object and the agent of a node
// tell it.
//
// +kubebuilder:object:root=true
type ObjectTimeline struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Object that it is about.
	Object SourceRef `json:"object"`
	// Entries, the oldest first; those of the same moment in the order in which one causes the next.
	Entries []TimelineEntry `json:"entries"`
	// Notes say what is not recorded.
	// +optional
	Notes []string `json:"notes,omitempty"`
	// Incomplete names what could not be read, and why; empty when the answer is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}
