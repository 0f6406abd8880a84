package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ReservationState is how a Reservation fares, in one word.
type ReservationState string

const (
	// ReservationMissing is a Reservation that pods name and that does not exist.
	ReservationMissing ReservationState = "Missing"
	// ReservationFailed has failed.
	ReservationFailed ReservationState = "Failed"
	// ReservationOverused is a Reservation of which pods have taken more than it holds.
	ReservationOverused ReservationState = "Overused"
	// ReservationBlocked is a Reservation that no node has room for.
	ReservationBlocked ReservationState = "Blocked"
	// ReservationCordoned is closed for further pods.
	ReservationCordoned ReservationState = "Cordoned"
	// ReservationPending has no node yet.
	ReservationPending ReservationState = "Pending"
	// ReservationIdle is used by no pod.
	ReservationIdle ReservationState = "Idle"
	// ReservationUsed is used by pods.
	ReservationUsed ReservationState = "Used"
	// ReservationExpired has reached its end.
	ReservationExpired ReservationState = "Expired"
	// ReservationSucceeded was for one pod, and that has used it.
	ReservationSucceeded ReservationState = "Succeeded"
)

// ReservationOverview is a Reservation with what it holds and the pods that use it: a node of `koordctl tree reservation`.
//
// +kubebuilder:object:root=true
type ReservationOverview struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// State of the Reservation, and Reason for it where that has to be said.
	State ReservationState `json:"state"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// NodeName is empty while it has no node.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// Owners say which pods may use it; a pod needs to match one of them.
	// +optional
	Owners []string `json:"owners,omitempty"`
	// AllocateOnce is true where the first pod that uses it ends it.
	// +optional
	AllocateOnce bool `json:"allocateOnce,omitempty"`
	// Expires is when it ends; absent for one that has ended, or never does.
	// +optional
	Expires *metav1.Time `json:"expires,omitempty"`
	// Resources that it holds, cpu and memory first.
	// +optional
	Resources []ReservedResource `json:"resources,omitempty"`
	// Pods that use it, by namespace and name.
	// +optional
	Pods []ReservationPod `json:"pods,omitempty"`
}

// ReservedResource is one resource of a Reservation, in its unit.
type ReservedResource struct {
	Resource string `json:"resource"`
	Unit     Unit   `json:"unit"`
	// Reserved is held, Allocated of that is taken by pods, and Free is left for others.
	Reserved  int64 `json:"reserved"`
	Allocated int64 `json:"allocated"`
	Free      int64 `json:"free"`
}

// ReservationPod is a pod that uses a Reservation.
type ReservationPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Phase of the pod; absent where it cannot be seen, or is gone.
	// +optional
	Phase string `json:"phase,omitempty"`
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// Gone is true for a pod that the Reservation names and that does not exist or has ended.
	// +optional
	Gone bool `json:"gone,omitempty"`
	// Requests of the pod for the resources that the Reservation holds.
	// +optional
	Requests []ForecastAmount `json:"requests,omitempty"`
}

// ReservationOverviewList is what `koordctl tree reservation -o json` prints.
//
// +kubebuilder:object:root=true
type ReservationOverviewList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ReservationOverview `json:"items"`
	// Incomplete names what could not be seen, and why; empty when the list is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}
