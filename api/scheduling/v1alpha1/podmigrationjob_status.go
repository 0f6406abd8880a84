package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodMigrationJobStatus is the status of the migration.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PodMigrationJobStatus struct {
	// Phase of the job.
	Phase PodMigrationJobPhase `json:"phase,omitempty"`
	// Status is the step the job is at, such as ReservationCreated.
	Status string `json:"status,omitempty"`
	// Reason is one CamelCase word.
	Reason string `json:"reason,omitempty"`
	// Message is for people.
	Message string `json:"message,omitempty"`
	// Conditions are the steps taken.
	Conditions []PodMigrationJobCondition `json:"conditions,omitempty"`
	// NodeName is the node the pod moves to.
	NodeName string `json:"nodeName,omitempty"`
	// PodRef is the pod that replaced the evicted one.
	PodRef *corev1.ObjectReference `json:"podRef,omitempty"`
	// PreemptedPodsRef are the pods that the scheduler preempted for the reservation, or tried to.
	PreemptedPodsRef []corev1.ObjectReference `json:"preemptedPodsRef,omitempty"`
	// PreemptedPodsReservations are the reservations made for preempted pods. None are made, so that it stays empty.
	PreemptedPodsReservations []PodMigrationJobPreemptedReservation `json:"preemptedPodsReservation,omitempty"`
}

// PodMigrationJobPreemptedReservation is a reservation made for a preempted pod.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PodMigrationJobPreemptedReservation struct {
	// Namespace of the reservation.
	Namespace string `json:"namespace,omitempty"`
	// Name of the reservation.
	Name string `json:"name,omitempty"`
	// NodeName the reservation was scheduled to.
	NodeName string `json:"nodeName,omitempty"`
	// Phase of the reservation.
	Phase string `json:"phase,omitempty"`
	// PreemptedPodRef is the pod that was preempted.
	PreemptedPodRef *corev1.ObjectReference `json:"preemptedPodRef,omitempty"`
	// PodsRef are the pods that replaced it.
	PodsRef []corev1.ObjectReference `json:"podsRef,omitempty"`
}

// PodMigrationJobCondition is one step of the migration.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PodMigrationJobCondition struct {
	// Type of the condition.
	Type PodMigrationJobConditionType `json:"type"`
	// Status is True, False or Unknown.
	Status PodMigrationJobConditionStatus `json:"status"`
	// LastProbeTime is when the condition was last looked at.
	// +nullable
	// +optional
	LastProbeTime metav1.Time `json:"lastProbeTime,omitempty,omitzero"`
	// LastTransitionTime is when the status last changed.
	// +nullable
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty,omitzero"`
	// Reason is one CamelCase word.
	Reason string `json:"reason,omitempty"`
	// Message is for people.
	Message string `json:"message,omitempty"`
	// Attempts counts the evictions that were tried. Other steps leave it at 0.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
}

// PodMigrationJobPhase is the state of a job.
type PodMigrationJobPhase string

const (
	// PodMigrationJobPending has not begun.
	PodMigrationJobPending PodMigrationJobPhase = "Pending"
	// PodMigrationJobRunning is being worked on.
	PodMigrationJobRunning PodMigrationJobPhase = "Running"
	// PodMigrationJobSucceeded moved the pod.
	PodMigrationJobSucceeded PodMigrationJobPhase = "Succeeded"
	// PodMigrationJobFailed could not move the pod.
	PodMigrationJobFailed PodMigrationJobPhase = "Failed"
	// PodMigrationJobAborted was given up: a user asked for it, or somebody else used or removed what was reserved.
	PodMigrationJobAborted PodMigrationJobPhase = "Aborted"
)

// PodMigrationJobConditionType names a step of the migration.
type PodMigrationJobConditionType string

// The steps of a migration.
const (
	PodMigrationJobConditionReservationCreated             PodMigrationJobConditionType = "ReservationCreated"
	PodMigrationJobConditionReservationScheduled           PodMigrationJobConditionType = "ReservationScheduled"
	PodMigrationJobConditionPreemption                     PodMigrationJobConditionType = "Preemption"
	PodMigrationJobConditionEviction                       PodMigrationJobConditionType = "Eviction"
	PodMigrationJobConditionPodScheduled                   PodMigrationJobConditionType = "PodScheduled"
	PodMigrationJobConditionReservationPodBoundReservation PodMigrationJobConditionType = "PodBoundReservation"
	PodMigrationJobConditionBoundPodReady                  PodMigrationJobConditionType = "BoundPodReady"
	PodMigrationJobConditionReservationBound               PodMigrationJobConditionType = "ReservationBound"
	// PodMigrationJobConditionSurge is a step that upstream does not have: the pod is replaced before it is evicted.
	PodMigrationJobConditionSurge PodMigrationJobConditionType = "Surge"
	// PodMigrationJobConditionEvictionRequest is a step that upstream does not have: the eviction is requested by an EvictionRequest.
	PodMigrationJobConditionEvictionRequest PodMigrationJobConditionType = "EvictionRequest"
)

// The reasons of a job and of its conditions.
const (
	PodMigrationJobReasonTimeout                   = "Timeout"
	PodMigrationJobReasonFailedCreateReservation   = "FailedCreateReservation"
	PodMigrationJobReasonReservationExpired        = "ReservationExpired"
	PodMigrationJobReasonUnschedulable             = "Unschedulable"
	PodMigrationJobReasonForbiddenMigratePod       = "ForbiddenMigratePod"
	PodMigrationJobReasonMissingPod                = "MissingPod"
	PodMigrationJobReasonMissingReservation        = "MissingReservation"
	PodMigrationJobReasonPreempting                = "Preempting"
	PodMigrationJobReasonPreemptComplete           = "PreemptComplete"
	PodMigrationJobReasonEvicting                  = "Evicting"
	PodMigrationJobReasonFailedEvict               = "FailedEvict"
	PodMigrationJobReasonEvictComplete             = "EvictComplete"
	PodMigrationJobReasonWaitForPodBindReservation = "WaitForPodBindReservation"
	PodMigrationJobReasonWaitForBoundPodReady      = "WaitForBoundPodReady"
	PodMigrationJobReasonInvalidPodRef             = "InvalidPodRef"
)

// Reasons that upstream does not have.
const (
	// PodMigrationJobReasonAbortedByUser ends a job with annotation descheduler.koordinator.sh/abort, or one that is being deleted.
	PodMigrationJobReasonAbortedByUser = "AbortedByUser"
	// PodMigrationJobReasonReservationTaken ends a job whose reservation another pod got before the eviction.
	PodMigrationJobReasonReservationTaken = "ReservationBoundByAnotherPod"
	// PodMigrationJobReasonNodeLost ends a job whose target node does not exist any more.
	PodMigrationJobReasonNodeLost = "ReservationNodeLost"
	// PodMigrationJobReasonNodeNotReady waits for a target node that takes no pods at present.
	PodMigrationJobReasonNodeNotReady = "ReservationNodeNotReady"
	// PodMigrationJobReasonPaused waits for a user to resume the job.
	PodMigrationJobReasonPaused = "Paused"
	// PodMigrationJobReasonWaitForArbitration waits for the arbitrator.
	PodMigrationJobReasonWaitForArbitration = "WaitForArbitration"
	// PodMigrationJobReasonWaitForReservationScheduled waits for the scheduler.
	PodMigrationJobReasonWaitForReservationScheduled = "WaitForReservationScheduled"
	// PodMigrationJobReasonWaitForPodScheduled waits for the scheduler, when the pod to move has not been scheduled yet.
	PodMigrationJobReasonWaitForPodScheduled = "WaitForPodScheduled"
	// PodMigrationJobReasonDetaching takes the pod from its ReplicaSet, and PodMigrationJobReasonDetached is one that was taken.
	PodMigrationJobReasonDetaching = "Detaching"
	PodMigrationJobReasonDetached  = "Detached"
	// PodMigrationJobReasonWaitForSurge waits until maxSurge of the Deployment allows one pod more.
	PodMigrationJobReasonWaitForSurge = "WaitForSurge"
	// PodMigrationJobReasonSurgeUndone ends a job whose pod was given back to its ReplicaSet by others while it was replaced.
	PodMigrationJobReasonSurgeUndone = "SurgeUndone"
	// PodMigrationJobReasonRequesting creates the EvictionRequest, and PodMigrationJobReasonRequested is one that was created.
	PodMigrationJobReasonRequesting = "Requesting"
	PodMigrationJobReasonRequested  = "Requested"
	// PodMigrationJobReasonRequestUnavailable uses the eviction API, because an EvictionRequest cannot be used.
	PodMigrationJobReasonRequestUnavailable = "Unavailable"
	// PodMigrationJobReasonComplete ends a job that succeeded.
	PodMigrationJobReasonComplete = "Complete"
)

// PodMigrationJobConditionStatus is True, False or Unknown.
type PodMigrationJobConditionStatus string

// The values of a condition's status.
const (
	PodMigrationJobConditionStatusTrue    PodMigrationJobConditionStatus = "True"
	PodMigrationJobConditionStatusFalse   PodMigrationJobConditionStatus = "False"
	PodMigrationJobConditionStatusUnknown PodMigrationJobConditionStatus = "Unknown"
)
