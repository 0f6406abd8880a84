package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AttemptOutcome is how an attempt to schedule a pod ended.
//
// +kubebuilder:validation:Enum=Placed;Unschedulable;Failed
type AttemptOutcome string

const (
	// AttemptPlaced means a node was chosen; binding went on by itself.
	AttemptPlaced AttemptOutcome = "Placed"
	// AttemptUnschedulable means that no node was found.
	AttemptUnschedulable AttemptOutcome = "Unschedulable"
	// AttemptFailed means that an error, or a refusal after a node had been chosen, ended the attempt.
	AttemptFailed AttemptOutcome = "Failed"
)

// SchedulingAttempt is one past attempt to schedule a pod, as the scheduler recorded it at the time.
type SchedulingAttempt struct {
	// Number counts the attempts of the pod since the scheduler started, from 1; numbers are missing where attempts were
	// forgotten.
	Number int32 `json:"number"`
	// Time the attempt began.
	Time metav1.MicroTime `json:"time"`
	// DurationMicroseconds on the scheduling thread.
	DurationMicroseconds int64          `json:"durationMicroseconds"`
	Outcome              AttemptOutcome `json:"outcome"`
	// NodeName that was chosen.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// NominatedNodeName is the node that preemption nominated.
	// +optional
	NominatedNodeName string `json:"nominatedNodeName,omitempty"`
	// NodesFeasible counts the nodes that passed, among those evaluated.
	// +optional
	NodesFeasible int32 `json:"nodesFeasible,omitempty"`
	// Message is the scheduler's summary of a failure, shortened.
	// +optional
	Message string `json:"message,omitempty"`
	// Refusals of nodes, most nodes first; the scheduler stops at the first refusal of each node.
	// +optional
	Refusals []AttemptRefusal `json:"refusals,omitempty"`
	// Scores of the chosen node and the runners-up, best first.
	// +optional
	Scores []NodeScore `json:"scores,omitempty"`
	// Differences from the attempt before it, one sentence each.
	// +optional
	Differences []string `json:"differences,omitempty"`
}

// AttemptRefusal is how many nodes one plugin refused with one reason.
type AttemptRefusal struct {
	Plugin string `json:"plugin"`
	// Code of the reason.
	Code   string `json:"code"`
	Reason string `json:"reason"`
	Count  int32  `json:"count"`
}

// SiblingAttempt is the last attempt of another pod of the same workload.
type SiblingAttempt struct {
	PodName string           `json:"podName"`
	Time    metav1.MicroTime `json:"time"`
	Outcome AttemptOutcome   `json:"outcome"`
	// NodeName that was chosen.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
}
