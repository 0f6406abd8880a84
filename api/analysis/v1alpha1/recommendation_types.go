package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Recommendation is the resources a workload should request, by what it used.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=recom
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".spec.target.type"
// +kubebuilder:printcolumn:name="Kind",type="string",JSONPath=".spec.target.workload.kind"
// +kubebuilder:printcolumn:name="Name",type="string",JSONPath=".spec.target.workload.name"
// +kubebuilder:printcolumn:name="LastUpdateTime",type="date",JSONPath=".status.updateTime"
type Recommendation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RecommendationSpec   `json:"spec,omitempty,omitzero"`
	Status RecommendationStatus `json:"status,omitempty,omitzero"`
}

// RecommendationList is a list of Recommendation.
//
// +kubebuilder:object:root=true
type RecommendationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Recommendation `json:"items"`
}

// RecommendationSpec names the workload.
//
// +kubebuilder:pruning:PreserveUnknownFields
type RecommendationSpec struct {
	// Target to analyse.
	Target RecommendationTarget `json:"target"`
}

// RecommendationTargetType says which field of a target is set.
//
// +kubebuilder:validation:Enum=workload;podSelector
type RecommendationTargetType string

const (
	// RecommendationTargetWorkload is a controller such as a Deployment.
	RecommendationTargetWorkload RecommendationTargetType = "workload"
	// RecommendationTargetPodSelector is a set of pods.
	RecommendationTargetPodSelector RecommendationTargetType = "podSelector"
)

// RecommendationTarget is a controller or a set of pods.
//
// +kubebuilder:validation:XValidation:rule="self.type != 'workload' || has(self.workload)",message="a target of type workload needs workload"
// +kubebuilder:validation:XValidation:rule="self.type != 'podSelector' || has(self.podSelector)",message="a target of type podSelector needs podSelector"
// +kubebuilder:pruning:PreserveUnknownFields
type RecommendationTarget struct {
	// Type is workload or podSelector.
	Type RecommendationTargetType `json:"type"`
	// Workload, for type workload.
	Workload *CrossVersionObjectReference `json:"workload,omitempty"`
	// PodSelector, for type podSelector.
	PodSelector *metav1.LabelSelector `json:"podSelector,omitempty"`
}

// CrossVersionObjectReference names an object in the same namespace.
//
// +kubebuilder:pruning:PreserveUnknownFields
type CrossVersionObjectReference struct {
	// Kind of the object.
	Kind string `json:"kind"`
	// Name of the object.
	Name string `json:"name"`
	// APIVersion of the object.
	APIVersion string `json:"apiVersion,omitempty"`
}

// RecommendationStatus is the recommendation.
//
// +kubebuilder:pruning:PreserveUnknownFields
type RecommendationStatus struct {
	// PodStatus is the recommendation for a pod of the target.
	PodStatus *RecommendedPodStatus `json:"podStatus,omitempty"`
	// UpdateTime of the recommendation.
	UpdateTime *metav1.Time `json:"updateTime,omitempty"`
	// Conditions say how far to trust it.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// RecommendedPodStatus is the recommendation for a pod.
//
// +kubebuilder:pruning:PreserveUnknownFields
type RecommendedPodStatus struct {
	// ContainerStatuses, one per container.
	ContainerStatuses []RecommendedContainerStatus `json:"containerStatuses,omitempty"`
}

// RecommendedContainerStatus is the recommendation for a container.
//
// +kubebuilder:pruning:PreserveUnknownFields
type RecommendedContainerStatus struct {
	// ContainerName in the pod.
	ContainerName string `json:"containerName,omitempty"`
	// Resources to request.
	Resources corev1.ResourceList `json:"resources,omitempty"`
}

// Types of conditions of a recommendation.
const (
	// RecommendationConditionLowConfidence means that there are few samples.
	RecommendationConditionLowConfidence = "LowConfidence"
	// RecommendationConditionNoObjectsMatched means that the target selects no pods.
	RecommendationConditionNoObjectsMatched = "NoObjectsMatched"
)
