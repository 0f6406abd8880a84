package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PodTimeline is what happened to a pod, as its objects, events, migration jobs and the agent of its node tell it.
//
// +kubebuilder:object:root=true
type PodTimeline struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Entries, the oldest first; those of the same moment in the order in which one causes the next.
	Entries []TimelineEntry `json:"entries"`
	// Notes say what holds now without a time, and what is not recorded.
	// +optional
	Notes []string `json:"notes,omitempty"`
	// Incomplete names what could not be read, and why; empty when the answer is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// TimelineEntry is something that happened once, or several times in the same way.
type TimelineEntry struct {
	// Time when it happened first. Most components record it in seconds.
	Time metav1.MicroTime `json:"time"`
	// LastTime is when it happened last; absent for what happened once.
	// +optional
	LastTime *metav1.MicroTime `json:"lastTime,omitempty"`
	// Count is how often it happened.
	Count int32 `json:"count"`
	// By is the component that did it; empty where that is not recorded.
	// +optional
	By string `json:"by,omitempty"`
	// Object is what it happened to, where that is another object than the one asked about, such as a pod of a Deployment.
	// +optional
	Object *SourceRef `json:"object,omitempty"`
	// Event is the reason of an event, or a word for what an object tells, such as PodCreated.
	Event string `json:"event"`
	// +optional
	Message string `json:"message,omitempty"`
	// Changed is what differs from the attempt before, of an attempt to find a node.
	// +optional
	Changed []string `json:"changed,omitempty"`
	// Warning is true for what went wrong.
	// +optional
	Warning bool `json:"warning,omitempty"`
}
