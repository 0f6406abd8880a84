package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReservationStatus is the status of the reservation.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ReservationStatus struct {
	// Phase of the reservation.
	// +optional
	Phase ReservationPhase `json:"phase,omitempty"`
	// Conditions say why the reservation is in its phase.
	// +optional
	Conditions []ReservationCondition `json:"conditions,omitempty"`
	// CurrentOwners are the pods using the reservation.
	// +optional
	CurrentOwners []corev1.ObjectReference `json:"currentOwners,omitempty"`
	// NodeName is the node that the resources are reserved on.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// Allocatable is what the reservation holds.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`
	// Allocated is what the current owners took.
	// +optional
	Allocated corev1.ResourceList `json:"allocated,omitempty"`
}

// ReservationPhase is the state of a reservation.
type ReservationPhase string

const (
	// ReservationPending is not scheduled yet.
	ReservationPending ReservationPhase = "Pending"
	// ReservationAvailable is scheduled and open for owners.
	ReservationAvailable ReservationPhase = "Available"
	// ReservationSucceeded was used once and is closed.
	ReservationSucceeded ReservationPhase = "Succeeded"
	// ReservationWaiting is scheduled, but running pods still use the resources.
	ReservationWaiting ReservationPhase = "Waiting"
	// ReservationFailed expired or lost its node, and will be cleaned up.
	ReservationFailed ReservationPhase = "Failed"
)

// ReservationConditionType names a condition of a reservation.
type ReservationConditionType string

const (
	// ReservationConditionScheduled reports whether a node was found.
	ReservationConditionScheduled ReservationConditionType = "Scheduled"
	// ReservationConditionReady reports whether owners can use the reservation.
	ReservationConditionReady ReservationConditionType = "Ready"
)

// ConditionStatus is True, False or Unknown.
type ConditionStatus string

const (
	// ConditionStatusTrue means the condition holds.
	ConditionStatusTrue ConditionStatus = "True"
	// ConditionStatusFalse means the condition does not hold.
	ConditionStatusFalse ConditionStatus = "False"
	// ConditionStatusUnknown means that the status cannot be determined.
	ConditionStatusUnknown ConditionStatus = "Unknown"
)

const (
	// ReasonReservationScheduled is the reason of a true Scheduled condition.
	ReasonReservationScheduled = "Scheduled"
	// ReasonReservationUnschedulable is the reason of a false Scheduled condition.
	ReasonReservationUnschedulable = "Unschedulable"
	// ReasonReservationAvailable is the reason of a true Ready condition.
	ReasonReservationAvailable = "Available"
	// ReasonReservationSucceeded closes a reservation that was used once.
	ReasonReservationSucceeded = "Succeeded"
	// ReasonReservationExpired closes a reservation whose time is over.
	ReasonReservationExpired = "Expired"
)

// ReservationCondition is one condition of a reservation.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ReservationCondition struct {
	// Type of the condition.
	Type ReservationConditionType `json:"type,omitempty"`
	// Status of the condition.
	Status ConditionStatus `json:"status,omitempty"`
	// Reason is one CamelCase word.
	Reason string `json:"reason,omitempty"`
	// Message is for people.
	Message string `json:"message,omitempty"`
	// LastProbeTime is when the condition was last looked at.
	// +nullable
	// +optional
	LastProbeTime metav1.Time `json:"lastProbeTime,omitempty,omitzero"`
	// LastTransitionTime is when the status last changed.
	// +nullable
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty,omitzero"`
}
