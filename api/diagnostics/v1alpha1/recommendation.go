package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RecommendationExplanation is a Recommendation with what it rests on, and what applying it does: `koordctl explain
// recommendation`, and the rows of `koordctl top recommendations`.
//
// +kubebuilder:object:root=true
type RecommendationExplanation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Target whose pods are looked at, such as "Deployment/checkout" or "pods app=web".
	Target string `json:"target"`
	// Pods of the target that are bound to a node; absent when they could not be seen.
	// +optional
	Pods *int32 `json:"pods,omitempty"`
	// UpdatedAt is when the recommender wrote its status; absent before the first time.
	// +optional
	UpdatedAt *metav1.Time `json:"updatedAt,omitempty"`
	// Containers of the target's pods, one entry a name.
	// +optional
	Containers []ContainerRecommendation `json:"containers,omitempty"`
	// Application to running pods.
	Application RecommendationApplication `json:"application"`
	// Notes are the conditions of the Recommendation that hold, as sentences.
	// +optional
	Notes []string `json:"notes,omitempty"`
	// Incomplete names what could not be seen, and why; empty when the answer is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// RecommendationExplanationList is what `koordctl top recommendations -o json` prints.
//
// +kubebuilder:object:root=true
type RecommendationExplanationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RecommendationExplanation `json:"items"`
	// Incomplete names what could not be seen, and why; empty when the list is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// ContainerRecommendation is what the containers of one name should request.
type ContainerRecommendation struct {
	Name string `json:"name"`
	// Tier of the resources: plain, mid or batch.
	Tier string `json:"tier"`
	// CPU in milliCPU.
	CPU ResourceRecommendation `json:"cpu"`
	// Memory in bytes.
	Memory ResourceRecommendation `json:"memory"`
	// ConfidenceSeconds is how long the container was observed, as far as it counts; from a day on it is enough to apply.
	// +optional
	ConfidenceSeconds *int64 `json:"confidenceSeconds,omitempty"`
	// Runs of its job that it is recommended by; absent for a container that is recommended by its usage. From ten on they are enough to apply.
	// +optional
	Runs *int64 `json:"runs,omitempty"`
	// FirstSampleAt and LastSampleAt are the ends of the time in which it was observed.
	// +optional
	FirstSampleAt *metav1.Time `json:"firstSampleAt,omitempty"`
	// +optional
	LastSampleAt *metav1.Time `json:"lastSampleAt,omitempty"`
	// LastOOMAt is when a container last ran out of memory; absent when none did.
	// +optional
	LastOOMAt *metav1.Time `json:"lastOOMAt,omitempty"`
}

// ResourceRecommendation is one resource of a container, in milliCPU or bytes.
type ResourceRecommendation struct {
	// Requested by the pod that requests most, and RequestedLeast by the one that requests least; absent when none requests it.
	// +optional
	Requested *int64 `json:"requested,omitempty"`
	// +optional
	RequestedLeast *int64 `json:"requestedLeast,omitempty"`
	// Lower, Target and Upper are the recommendation. Requests within the bounds are fine. Absent where nothing is recommended.
	// +optional
	Lower *int64 `json:"lower,omitempty"`
	// +optional
	Target *int64 `json:"target,omitempty"`
	// +optional
	Upper *int64 `json:"upper,omitempty"`
	// Savings is what all pods together would request less at the target; negative when they need more. Absent without requests.
	// +optional
	Savings *int64 `json:"savings,omitempty"`
	// Terms are how the target came about; absent when what was learned could not be seen.
	// +optional
	Terms []Term `json:"terms,omitempty"`
}

// ApplicationState says in a word how a recommendation is applied to running pods.
//
// +kubebuilder:validation:Enum=Off;Settled;Due;Blocked;Unknown
type ApplicationState string

const (
	// ApplicationOff means the Recommendation does not ask for it.
	ApplicationOff ApplicationState = "Off"
	// ApplicationSettled means that no pod has to change.
	ApplicationSettled ApplicationState = "Settled"
	// ApplicationDue means that pods are resized in the next pass of the recommender.
	ApplicationDue ApplicationState = "Due"
	// ApplicationBlocked means that pods are left as they are.
	ApplicationBlocked ApplicationState = "Blocked"
	// ApplicationUnknown means that there is nothing to apply, or what applies could not be seen.
	ApplicationUnknown ApplicationState = "Unknown"
)

// RecommendationApplication is what applying a recommendation does to running pods, and what keeps it from it.
type RecommendationApplication struct {
	State ApplicationState `json:"state"`
	// Message is the state in one sentence.
	Message string `json:"message"`
	// Budget is how many pods may be resized within BudgetSeconds, and BudgetUsed how many of these were.
	// +optional
	Budget int32 `json:"budget,omitempty"`
	// +optional
	BudgetUsed int32 `json:"budgetUsed,omitempty"`
	// +optional
	BudgetSeconds int64 `json:"budgetSeconds,omitempty"`
	// CoolDownSeconds is how long a pod is left alone after it was resized.
	// +optional
	CoolDownSeconds int64 `json:"coolDownSeconds,omitempty"`
	// LastAppliedAt is when a pod of the target was last resized, as far as that is remembered: for a cool-down.
	// +optional
	LastAppliedAt *metav1.Time `json:"lastAppliedAt,omitempty"`
	// Pods that would be resized, in that order, and then those that are left as they are for a reason. Pods within their bounds
	// are not listed.
	// +optional
	Pods []PodResize `json:"pods,omitempty"`
}

// PodResize is what applying does to one pod.
type PodResize struct {
	Name string `json:"name"`
	// Reason why the pod is left as it is; empty when it would be resized.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Until is when the reason ends, where that is a time.
	// +optional
	Until *metav1.Time `json:"until,omitempty"`
	// Containers that would change.
	// +optional
	Containers []ContainerResize `json:"containers,omitempty"`
}

// ContainerResize is the resources that a container would get; resources that are not named stay.
type ContainerResize struct {
	Name string `json:"name"`
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`
}
