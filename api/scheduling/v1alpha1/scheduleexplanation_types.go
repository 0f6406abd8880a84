package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ScheduleExplanation asks the scheduler why a pod, job or gang cannot be scheduled, and keeps its answer.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=sched-exp
// +kubebuilder:printcolumn:name="Question",type="string",JSONPath=".spec.questionObjectKey"
// +kubebuilder:printcolumn:name="Schedulable",type="boolean",JSONPath=".status.schedulable"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type ScheduleExplanation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ScheduleExplanationSpec   `json:"spec,omitempty,omitzero"`
	Status ScheduleExplanationStatus `json:"status,omitempty,omitzero"`
}

// ScheduleExplanationList is a list of ScheduleExplanation.
//
// +kubebuilder:object:root=true
type ScheduleExplanationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ScheduleExplanation `json:"items"`
}

// ScheduleExplanationSpec is the question.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ScheduleExplanationSpec struct {
	// QuestionObjectKey is namespace/name of a pod or job, or the id of a gang group.
	QuestionObjectKey string `json:"questionObjectKey,omitempty"`
	// QuestionObjectTemplate is a pod template to ask about. The scheduler does not answer it.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +optional
	QuestionObjectTemplate *corev1.PodTemplateSpec `json:"questionObjectTemplate,omitempty"`
	// TTL after which the object is removed, 24h by default; 0 keeps it.
	// +kubebuilder:default="24h"
	// +optional
	TTL *metav1.Duration `json:"ttl,omitempty"`
}

// ScheduleExplanationStatus is the answer.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ScheduleExplanationStatus struct {
	// Schedulable reports whether a place exists.
	Schedulable bool `json:"schedulable,omitempty"`
	// SchedulableAfterPreemption reports whether a place exists once victims are gone.
	SchedulableAfterPreemption bool `json:"schedulableAfterPreemption,omitempty"`
	// FailedMessage is the reason when there is no place.
	FailedMessage string `json:"failedMessage,omitempty"`
	// LastUpdateTime is when the answer was computed.
	// +optional
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
	// DetailedExplanation has one entry per topology domain.
	DetailedExplanation []ExplanationDetail `json:"detailedExplanation,omitempty"`
}

// ExplanationDetail is the answer for one topology domain.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ExplanationDetail struct {
	// TopologyDomain the answer is for; empty for the whole cluster.
	TopologyDomain string `json:"topologyDomain,omitempty"`
	// Schedulable reports whether a place exists in the domain.
	Schedulable bool `json:"schedulable,omitempty"`
	// SchedulableAfterPreemption reports whether a place exists in the domain once victims are gone.
	SchedulableAfterPreemption bool `json:"schedulableAfterPreemption,omitempty"`
	// FailedMessage is the reason when there is none.
	FailedMessage string `json:"failedMessage,omitempty"`
	// ScheduleExplanation is the answer without preemption.
	ScheduleExplanation *SchedulingResult `json:"scheduleExplanation,omitempty"`
	// PreemptExplanation is the answer with preemption.
	PreemptExplanation *SchedulingResult `json:"preemptExplanation,omitempty"`
	// NodePossibleVictims are the pods whose removal would free enough resources.
	NodePossibleVictims []NodePossibleVictim `json:"nodePossibleVictims,omitempty"`
}

// SchedulingResult is one attempt to find a place.
//
// +kubebuilder:pruning:PreserveUnknownFields
type SchedulingResult struct {
	// Schedulable reports whether the attempt found one.
	Schedulable bool `json:"schedulable,omitempty"`
	// FailedMessage is the reason when it did not.
	FailedMessage string `json:"failedMessage,omitempty"`
	// FeasibleSchedulingResult are the members that found a node.
	FeasibleSchedulingResult []PodSchedulingResult `json:"feasibleSchedulingResult,omitempty"`
	// NodeFailedDetails groups the nodes by the plugin and reason that refused.
	NodeFailedDetails []NodeFailedDetail `json:"nodeFailedDetails,omitempty"`
}

// NamespacedPod identifies a pod.
//
// +kubebuilder:pruning:PreserveUnknownFields
type NamespacedPod struct {
	// Namespace of the pod.
	Namespace string `json:"namespace,omitempty"`
	// Name of the pod.
	Name string `json:"name,omitempty"`
	// UID of the pod.
	UID types.UID `json:"uid,omitempty"`
}

// PodSchedulingResult is a pod and the node found for it.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PodSchedulingResult struct {
	NamespacedPod `json:",inline"`
	// NodeName found.
	NodeName string `json:"nodeName,omitempty"`
}

// NodeFailedDetail is a group of nodes refused for the same reason.
//
// +kubebuilder:pruning:PreserveUnknownFields
type NodeFailedDetail struct {
	// FailedPlugin refused.
	FailedPlugin string `json:"failedPlugin,omitempty"`
	// Reason the plugin gave.
	Reason string `json:"reason,omitempty"`
	// PreemptMightHelp reports whether removing pods could change the answer.
	PreemptMightHelp bool `json:"preemptMightHelp,omitempty"`
	// FailedNodes are the names of the nodes.
	FailedNodes []string `json:"failedNodes,omitempty"`
}

// NodePossibleVictim lists the victims of one node.
//
// +kubebuilder:pruning:PreserveUnknownFields
type NodePossibleVictim struct {
	// NodeName of the victims.
	NodeName string `json:"nodeName,omitempty"`
	// PossibleVictims on the node.
	PossibleVictims []PossibleVictim `json:"possibleVictims,omitempty"`
}

// PossibleVictim is a pod whose removal would free enough resources.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PossibleVictim struct {
	NamespacedPod `json:",inline"`
	// IsNominatedPod is true when the pod is not running, but nominated to the node.
	IsNominatedPod bool `json:"isNominatedPod,omitempty"`
}
