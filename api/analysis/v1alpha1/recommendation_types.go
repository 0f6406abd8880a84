package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	// Checkpoint is the state from which the recommender continues after a restart. Other programs do not use it.
	Checkpoint *RecommendationCheckpoint `json:"checkpoint,omitempty"`
}

// RecommendationCheckpoint is what was learned about a target. It is bounded: a few hundred bytes a container.
//
// +kubebuilder:pruning:PreserveUnknownFields
type RecommendationCheckpoint struct {
	// ObservedGeneration of the target that this was learned about; that of another target is of no use.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Containers, one entry for each name.
	// +kubebuilder:validation:MaxItems=64
	Containers []ContainerCheckpoint `json:"containers,omitempty"`
	// Applied are the latest resizes of pods, by which their budget and cool-down are kept.
	// +kubebuilder:validation:MaxItems=1000
	Applied []AppliedResize `json:"applied,omitempty"`
}

// ContainerCheckpoint is what was learned about the containers of one name.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ContainerCheckpoint struct {
	// ContainerName in the pods.
	ContainerName string `json:"containerName,omitempty"`
	// CPU is the histogram of CPU usage.
	CPU []byte `json:"cpu,omitempty"`
	// Memory is the histogram of memory usage.
	Memory []byte `json:"memory,omitempty"`
	// ObservedMinutes is how long containers were observed, all of them together.
	ObservedMinutes int64 `json:"observedMinutes,omitempty"`
	// FirstSampleTime is when learning began.
	FirstSampleTime *metav1.Time `json:"firstSampleTime,omitempty"`
	// LastSampleTime is the time of the latest sample.
	LastSampleTime *metav1.Time `json:"lastSampleTime,omitempty"`
	// LastOOMTime is when a container last ran out of memory.
	LastOOMTime *metav1.Time `json:"lastOOMTime,omitempty"`
	// OOMMemory is what the containers should have at least since then, in bytes.
	OOMMemory int64 `json:"oomMemory,omitempty"`
	// Job is what former runs say of the next one; absent where the pods of the target are no jobs.
	Job *JobCheckpoint `json:"job,omitempty"`
}

// JobCheckpoint is what is predicted of the next run of a job.
//
// +kubebuilder:pruning:PreserveUnknownFields
type JobCheckpoint struct {
	// Runs that the predictions rest on.
	Runs int64 `json:"runs,omitempty"`
	// Basis is what these runs have in common with the next one.
	Basis string `json:"basis,omitempty"`
	// CPU in milli-cores, of the mean of a run.
	CPU JobBounds `json:"cpu,omitempty"`
	// Memory in bytes, of the peak of a run.
	Memory JobBounds `json:"memory,omitempty"`
}

// JobBounds are predictions for one resource.
type JobBounds struct {
	// Lower is as likely exceeded as not.
	Lower int64 `json:"lower,omitempty"`
	// Target is what to request.
	Target int64 `json:"target,omitempty"`
	// Upper is hardly ever exceeded.
	Upper int64 `json:"upper,omitempty"`
}

// AppliedResize is a resize of one pod.
type AppliedResize struct {
	// PodUID of the pod.
	PodUID types.UID `json:"podUID"`
	// Time of the resize.
	Time metav1.Time `json:"time"`
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
	// LowerBound is what a container needs at least; requests below it are too small.
	LowerBound corev1.ResourceList `json:"lowerBound,omitempty"`
	// UpperBound is what a container needs at most; requests above it are wasted.
	UpperBound corev1.ResourceList `json:"upperBound,omitempty"`
}

// Types of conditions of a recommendation.
const (
	// RecommendationConditionLowConfidence means that there are few samples.
	RecommendationConditionLowConfidence = "LowConfidence"
	// RecommendationConditionNoObjectsMatched means that the target selects no pods.
	RecommendationConditionNoObjectsMatched = "NoObjectsMatched"
	// RecommendationConditionApportioned means that the usage of pods with several containers was divided among them by
	// their requests, because it is measured for the pod as a whole.
	RecommendationConditionApportioned = "Apportioned"
	// RecommendationConditionAutoscaled means that running pods do not get all of the resources that are recommended, because
	// an autoscaler sets them, or scales by their utilization. It is absent where nothing is applied.
	RecommendationConditionAutoscaled = "Autoscaled"
)

const (
	// AnnotationRecommendationApply on a Recommendation says how the target's pods get the resources.
	AnnotationRecommendationApply = "analysis.koordinator.sh/apply"
	// RecommendationApplyInPlace resizes running pods.
	RecommendationApplyInPlace = "in-place"
)
