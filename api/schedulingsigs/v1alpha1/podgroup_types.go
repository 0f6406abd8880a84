package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodGroup is a set of pods that start together or not at all.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,shortName={pg,pgs}
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=https://github.com/kubernetes-sigs/scheduler-plugins/pull/50"
// +kubebuilder:printcolumn:name="Phase",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="MinMember",type="integer",JSONPath=".spec.minMember"
// +kubebuilder:printcolumn:name="Running",type="integer",JSONPath=".status.running"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type PodGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PodGroupSpec   `json:"spec,omitempty,omitzero"`
	Status PodGroupStatus `json:"status,omitempty,omitzero"`
}

// PodGroupList is a list of PodGroup.
//
// +kubebuilder:object:root=true
type PodGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PodGroup `json:"items"`
}

// PodGroupSpec says what must be there before anything starts.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PodGroupSpec struct {
	// MinMember is the number of pods that must find a node.
	// +kubebuilder:validation:Minimum=1
	MinMember int32 `json:"minMember,omitempty"`
	// MinResources that must be free.
	// +optional
	MinResources corev1.ResourceList `json:"minResources,omitempty"`
	// ScheduleTimeoutSeconds is how long members wait for each other.
	// +optional
	ScheduleTimeoutSeconds *int32 `json:"scheduleTimeoutSeconds,omitempty"`
}

// PodGroupPhase is the state of a group.
type PodGroupPhase string

const (
	// PodGroupPending has too few pods.
	PodGroupPending PodGroupPhase = "Pending"
	// PodGroupPreScheduling has enough pods, none of them scheduled.
	PodGroupPreScheduling PodGroupPhase = "PreScheduling"
	// PodGroupScheduling has found nodes for some of its pods.
	PodGroupScheduling PodGroupPhase = "Scheduling"
	// PodGroupScheduled has found nodes for minMember pods.
	PodGroupScheduled PodGroupPhase = "Scheduled"
	// PodGroupRunning has minMember pods running.
	PodGroupRunning PodGroupPhase = "Running"
	// PodGroupUnknown has some pods running and cannot place the rest.
	PodGroupUnknown PodGroupPhase = "Unknown"
	// PodGroupFinished has succeeded.
	PodGroupFinished PodGroupPhase = "Finished"
	// PodGroupFailed has a failed pod.
	PodGroupFailed PodGroupPhase = "Failed"
)

// PodGroupStatus is the status of the group.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PodGroupStatus struct {
	// Phase of the group.
	Phase PodGroupPhase `json:"phase,omitempty"`
	// OccupiedBy is the workload the group serves.
	OccupiedBy string `json:"occupiedBy,omitempty"`
	// Scheduled counts pods with a node.
	// +optional
	Scheduled int32 `json:"scheduled,omitempty"`
	// Running counts running pods.
	// +optional
	Running int32 `json:"running,omitempty"`
	// Succeeded counts pods that succeeded.
	// +optional
	Succeeded int32 `json:"succeeded,omitempty"`
	// Failed counts pods that failed.
	// +optional
	Failed int32 `json:"failed,omitempty"`
	// ScheduleStartTime is when scheduling began.
	// +nullable
	// +optional
	ScheduleStartTime metav1.Time `json:"scheduleStartTime,omitempty,omitzero"`
}
