package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkersExplanation says why the target of ElasticWorkers has the size it has, and which workers go next: `koordctl explain workers`, and the
// rows of `koordctl top workers`.
//
// +kubebuilder:object:root=true
type WorkersExplanation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Target that is sized, such as "Deployment/trino-worker".
	Target string `json:"target"`
	// State is Sized while the target is sized; otherwise why it is not: Suspended, TargetShared, TargetAutoscaled, TargetUnusable, Stale where
	// koord-manager has stopped deciding or, before it decided for the first time, Unprocessed.
	State string `json:"state"`
	// Code of the finding where the target is not sized because of a mistake.
	// +optional
	Code string `json:"code,omitempty"`
	// Message is the size, or why there is none, in one sentence.
	Message string `json:"message"`
	// Current and Desired are the numbers of workers.
	Current int32 `json:"current"`
	Desired int32 `json:"desired"`
	// Min and Max are the bounds of the spec.
	Min int32 `json:"min"`
	Max int32 `json:"max"`
	// LimitedBy is the term that determined the size.
	// +optional
	LimitedBy string `json:"limitedBy,omitempty"`
	// DecidedAt is when koord-manager decided; absent before the first time.
	// +optional
	DecidedAt *metav1.Time `json:"decidedAt,omitempty"`
	// Waterfall leads from what fits to the desired size.
	// +optional
	Waterfall *Waterfall `json:"waterfall,omitempty"`
	// Nodes with workers and with most room.
	// +optional
	Nodes []WorkersNode `json:"nodes,omitempty"`
	// NodesOmitted counts nodes beyond these.
	// +optional
	NodesOmitted int32 `json:"nodesOmitted,omitempty"`
	// Draining are the workers that finish their work before they go.
	// +optional
	Draining []DrainingWorker `json:"draining,omitempty"`
	// Next are the workers that go first if fewer are wanted.
	// +optional
	Next []NextWorker `json:"next,omitempty"`
	// Notes say what a reader may wonder about.
	// +optional
	Notes []string `json:"notes,omitempty"`
	// Incomplete names what could not be seen, and why; empty when the answer is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// WorkersExplanationList is what `koordctl top workers -o json` prints.
//
// +kubebuilder:object:root=true
type WorkersExplanationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []WorkersExplanation `json:"items"`
	// Incomplete names what could not be seen, and why; empty when the list is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// WorkersNode is how many workers fit on a node, those that run there included.
type WorkersNode struct {
	Name    string `json:"name"`
	Workers int32  `json:"workers"`
	// Now fit in what the node offers, Later in the least that it is predicted to offer within the horizon.
	Now   int32 `json:"now"`
	Later int32 `json:"later"`
	// Note says why fewer fit than there is room for.
	// +optional
	Note string `json:"note,omitempty"`
}

// DrainingWorker is a worker that finishes its work before it goes.
type DrainingWorker struct {
	Name string `json:"name"`
	// +optional
	Node  string      `json:"node,omitempty"`
	Since metav1.Time `json:"since"`
	// Deadline after which it goes though it has not finished.
	Deadline metav1.Time `json:"deadline"`
	// Reason why it was chosen.
	Reason string `json:"reason"`
	// Message is how far it is.
	Message string `json:"message"`
}

// NextWorker is a worker that goes if fewer are wanted.
type NextWorker struct {
	Name string `json:"name"`
	// +optional
	Node   string `json:"node,omitempty"`
	Reason string `json:"reason"`
}
