package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodMigrationJob moves one pod: it reserves resources on another node and then evicts the pod. koord-descheduler does that.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=pmj
// +kubebuilder:printcolumn:name="Phase",type="string",JSONPath=".status.phase",description="Phase of the job"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.status",description="Step the job is at"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.nodeName"
// +kubebuilder:printcolumn:name="Reservation",type="string",JSONPath=".spec.reservationOptions.reservationRef.name"
// +kubebuilder:printcolumn:name="PodNamespace",type="string",JSONPath=".spec.podRef.namespace"
// +kubebuilder:printcolumn:name="Pod",type="string",JSONPath=".spec.podRef.name"
// +kubebuilder:printcolumn:name="NewPod",type="string",JSONPath=".status.podRef.name"
// +kubebuilder:printcolumn:name="TTL",type="string",JSONPath=".spec.ttl"
type PodMigrationJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PodMigrationJobSpec   `json:"spec,omitempty,omitzero"`
	Status PodMigrationJobStatus `json:"status,omitempty,omitzero"`
}

// PodMigrationJobList is a list of PodMigrationJob.
//
// +kubebuilder:object:root=true
type PodMigrationJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PodMigrationJob `json:"items"`
}

// PodMigrationJobMode is the way a pod is moved.
type PodMigrationJobMode string

const (
	// PodMigrationJobModeReservationFirst reserves resources before the eviction; the default.
	PodMigrationJobModeReservationFirst PodMigrationJobMode = "ReservationFirst"
	// PodMigrationJobModeEvictionDirectly evicts without a reservation.
	PodMigrationJobModeEvictionDirectly PodMigrationJobMode = "EvictDirectly"
)

// PodMigrationJobSpec says which pod to move and how.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PodMigrationJobSpec struct {
	// Paused starts no further step of the job; its TTL keeps running.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// TTL is the time the job may take from its creation; then it fails. Without one that is positive, the descheduler's default applies.
	// +optional
	TTL *metav1.Duration `json:"ttl,omitempty"`
	// Mode is ReservationFirst, the default, or EvictDirectly.
	// +kubebuilder:validation:Enum="";ReservationFirst;EvictDirectly
	// +optional
	Mode PodMigrationJobMode `json:"mode,omitempty"`
	// PodRef is the pod to move, by namespace and name.
	// +kubebuilder:validation:XValidation:rule="has(self.__namespace__) && size(self.__namespace__) > 0 && has(self.name) && size(self.name) > 0",message="podRef needs a namespace and a name"
	// +required
	PodRef *corev1.ObjectReference `json:"podRef"`
	// ReservationOptions describe the reservation made for the pod.
	// +optional
	ReservationOptions *PodMigrateReservationOptions `json:"reservationOptions,omitempty"`
	// DeleteOptions are passed on when the pod is evicted. Their preconditions have no effect.
	// +optional
	DeleteOptions *metav1.DeleteOptions `json:"deleteOptions,omitempty"`
}

// PodMigrateReservationOptions describe the reservation made for the pod.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PodMigrateReservationOptions struct {
	// ReservationRef is the reservation to use; the controller fills it in after it created one.
	// +optional
	ReservationRef *corev1.ObjectReference `json:"reservationRef,omitempty"`
	// Template of the reservation to create when there is no ReservationRef.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +optional
	Template *ReservationTemplateSpec `json:"template,omitempty"`
	// PreemptionOptions allow other pods to be preempted for the reservation.
	// +optional
	PreemptionOptions *PodMigrationJobPreemptionOptions `json:"preemptionOptions,omitempty"`
}

// PodMigrationJobPreemptionOptions allow other pods to be preempted. It has no fields yet.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PodMigrationJobPreemptionOptions struct{}
