package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WorkloadOverview is a workload, or another group of pods, with what its pods request and use. Its name is that of the workload with its
// kind, such as deployment/web, or the values by which pods are grouped.
//
// +kubebuilder:object:root=true
type WorkloadOverview struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Workload is the controller; absent where pods are grouped by something else.
	// +optional
	Workload *SourceRef `json:"workload,omitempty"`
	// Pods that have not ended, Waiting of them without a node, and Measured of them with a measured usage.
	Pods     int32 `json:"pods"`
	Waiting  int32 `json:"waiting"`
	Measured int32 `json:"measured"`
	// CPU in millicores, and Memory in bytes.
	CPU    WorkloadResource `json:"cpu"`
	Memory WorkloadResource `json:"memory"`
	// ObservedAt is the time of the oldest measurement.
	// +optional
	ObservedAt *metav1.Time `json:"observedAt,omitempty"`
}

// WorkloadResource is what pods request of a resource and what they use.
type WorkloadResource struct {
	// Requested in all tiers, Mid and Batch of it in these.
	Requested int64 `json:"requested"`
	// +optional
	Mid int64 `json:"mid,omitempty"`
	// +optional
	Batch int64 `json:"batch,omitempty"`
	// Used as measured, and Idle what measured pods request and do not use; absent when no pod is measured.
	// +optional
	Used *int64 `json:"used,omitempty"`
	// +optional
	Idle *int64 `json:"idle,omitempty"`
	// Recommended by the Recommendations of the workloads, for those of the pods that have one; absent for none.
	// +optional
	Recommended *int64 `json:"recommended,omitempty"`
}

// WorkloadOverviewList is what `koordctl top workloads -o json` prints.
//
// +kubebuilder:object:root=true
type WorkloadOverviewList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []WorkloadOverview `json:"items"`
	// Unknown names the inputs that could not be read; empty when all were.
	// +optional
	Unknown []UnknownInput `json:"unknown,omitempty"`
	// Incomplete names what could not be seen, and why; empty when the list is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}
