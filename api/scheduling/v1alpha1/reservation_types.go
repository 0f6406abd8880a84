package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reservation reserves resources on a node for future pods. It is scheduled like a pod created from its template.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="Phase",type="string",JSONPath=".status.phase",description="Phase of the reservation"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.nodeName"
// +kubebuilder:printcolumn:name="TTL",type="string",JSONPath=".spec.ttl"
// +kubebuilder:printcolumn:name="Expires",type="string",JSONPath=".spec.expires"
type Reservation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ReservationSpec   `json:"spec,omitempty,omitzero"`
	Status ReservationStatus `json:"status,omitempty,omitzero"`
}

// ReservationList is a list of Reservation.
//
// +kubebuilder:object:root=true
type ReservationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Reservation `json:"items"`
}

// ReservationSpec defines the reserved resources, their owners and the duration.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ReservationSpec struct {
	// Template is a pod template: its requests are reserved, its constraints choose the node. With
	// spec.nodeName set the reservation is made on that node.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:validation:Required
	Template *corev1.PodTemplateSpec `json:"template"`
	// Owners are the pods that may use the reserved resources. A pod that matches any entry is an owner.
	// +kubebuilder:validation:Required
	// +kubebuilder:validation:MinItems=1
	Owners []ReservationOwner `json:"owners"`
	// TTL is the life of the reservation from its creation, 24h by default; 0 never expires. Expires wins over it.
	// +kubebuilder:default="24h"
	// +optional
	TTL *metav1.Duration `json:"ttl,omitempty"`
	// Expires is the time the reservation ends.
	// +optional
	Expires *metav1.Time `json:"expires,omitempty"`
	// PreAllocation reserves resources that running pods still use; the reservation waits until they finish.
	// +optional
	PreAllocation bool `json:"preAllocation,omitempty"`
	// PreAllocationPolicy chooses the running pods whose resources may be reserved.
	// +optional
	PreAllocationPolicy *PreAllocationPolicy `json:"preAllocationPolicy,omitempty"`
	// AllocateOnce ends the reservation with its first owner. Default true.
	// +kubebuilder:default=true
	// +optional
	AllocateOnce *bool `json:"allocateOnce,omitempty"`
	// AllocatePolicy says whether an owner may take more than the reservation holds.
	// +kubebuilder:validation:Enum=Aligned;Restricted
	// +optional
	AllocatePolicy ReservationAllocatePolicy `json:"allocatePolicy,omitempty"`
	// Unschedulable closes the reservation for new owners.
	// +optional
	Unschedulable bool `json:"unschedulable,omitempty"`
	// Taints repel owners that do not tolerate them. NoExecute does not evict pods.
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`
}

// PreAllocationMode says where candidates for pre-allocation come from.
type PreAllocationMode string

const (
	// PreAllocationModeDefault takes the pods that match the reservation's owners.
	PreAllocationModeDefault PreAllocationMode = "Default"
	// PreAllocationModeCluster takes the pods labelled pod.koordinator.sh/is-pre-allocatable.
	PreAllocationModeCluster PreAllocationMode = "Cluster"
)

// PreAllocationPolicy chooses the running pods whose resources may be reserved.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PreAllocationPolicy struct {
	// Mode is Default or Cluster.
	// +kubebuilder:validation:Enum=Default;Cluster
	// +kubebuilder:default=Default
	// +optional
	Mode PreAllocationMode `json:"mode,omitempty"`
	// EnableMultiple allows the resources of several pods to be reserved together.
	// +kubebuilder:default=false
	// +optional
	EnableMultiple bool `json:"enableMultiple,omitempty"`
}

// ReservationAllocatePolicy says whether an owner may take more than the reservation holds.
type ReservationAllocatePolicy string

const (
	// ReservationAllocatePolicyDefault is deprecated and treated as Aligned.
	ReservationAllocatePolicyDefault ReservationAllocatePolicy = ""
	// ReservationAllocatePolicyAligned takes from the reservation first and the rest from the node.
	ReservationAllocatePolicyAligned ReservationAllocatePolicy = "Aligned"
	// ReservationAllocatePolicyRestricted takes what is reserved from the reservation only; resources it does not hold
	// come from the node.
	ReservationAllocatePolicyRestricted ReservationAllocatePolicy = "Restricted"
)

// ReservationOwner matches pods; all the fields set must match.
//
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:pruning:PreserveUnknownFields
type ReservationOwner struct {
	// Object is the pod itself.
	// +optional
	Object *corev1.ObjectReference `json:"object,omitempty"`
	// Controller owns the pod.
	// +optional
	Controller *ReservationControllerReference `json:"controller,omitempty"`
	// LabelSelector matches the pod's labels.
	// +optional
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
}

// ReservationControllerReference is an owner reference with a namespace.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ReservationControllerReference struct {
	// Every field is optional: only the ones that are set are compared.
	metav1.OwnerReference `json:",inline"`
	// Namespace of the controller.
	Namespace string `json:"namespace,omitempty"`
}

// ReservationTemplateSpec is the reservation a PodMigrationJob creates.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ReservationTemplateSpec struct {
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`
	// Spec of the reservation.
	// +optional
	Spec ReservationSpec `json:"spec,omitempty,omitzero"`
}
