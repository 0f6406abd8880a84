package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// NodeSLO is the QoS strategies of one node, rendered from the cluster's configuration; its name is the node's name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type NodeSLO struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NodeSLOSpec   `json:"spec,omitempty,omitzero"`
	Status NodeSLOStatus `json:"status,omitempty,omitzero"`
}

// NodeSLOList is a list of NodeSLO.
//
// +kubebuilder:object:root=true
type NodeSLOList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeSLO `json:"items"`
}

// NodeSLOSpec is the strategies of the node.
//
// +kubebuilder:pruning:PreserveUnknownFields
type NodeSLOSpec struct {
	// ResourceUsedThresholdWithBE says when best-effort pods are suppressed and evicted.
	ResourceUsedThresholdWithBE *ResourceThresholdStrategy `json:"resourceUsedThresholdWithBE,omitempty"`
	// ResourceQOSStrategy is kernel settings by QoS class.
	ResourceQOSStrategy *ResourceQOSStrategy `json:"resourceQOSStrategy,omitempty"`
	// CPUBurstStrategy lets throttled containers exceed their limit for a while.
	CPUBurstStrategy *CPUBurstStrategy `json:"cpuBurstStrategy,omitempty"`
	// SystemStrategy is kernel settings of the whole node.
	SystemStrategy *SystemStrategy `json:"systemStrategy,omitempty"`
	// Extensions are for third parties.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Extensions *runtime.RawExtension `json:"extensions,omitempty"`
	// HostApplications are applications outside of Kubernetes.
	HostApplications []HostApplicationSpec `json:"hostApplications,omitempty"`
}

// NodeSLOStatus has no fields yet.
//
// +kubebuilder:pruning:PreserveUnknownFields
type NodeSLOStatus struct{}

// SystemStrategy is kernel settings of the whole node.
//
// +kubebuilder:pruning:PreserveUnknownFields
type SystemStrategy struct {
	// MinFreeKbytesFactor sets vm.min_free_kbytes, in ten-thousandths of the node's memory.
	MinFreeKbytesFactor *int64 `json:"minFreeKbytesFactor,omitempty"`
	// WatermarkScaleFactor sets vm.watermark_scale_factor, 1 to 400.
	WatermarkScaleFactor *int64 `json:"watermarkScaleFactor,omitempty"`
	// MemcgReapBackGround sets memcg_reaper/reap_background, 0 or 1.
	MemcgReapBackGround *int64 `json:"memcgReapBackGround,omitempty"`
	// SchedGroupIdentityEnabled sets kernel.sched_group_identity_enabled, 0 or 1.
	SchedGroupIdentityEnabled *int64 `json:"schedGroupIdentityEnabled,omitempty"`
	// SchedIdleSaverWmark sets kernel.sched_idle_saver_wmark, in nanoseconds.
	SchedIdleSaverWmark *int64 `json:"schedIdleSaverWmark,omitempty"`
	// SchedFeatures turns features of the kernel's scheduler on and off.
	SchedFeatures map[string]bool `json:"schedFeatures,omitempty"`
	// PageCacheLimitEnabled sets pagecache_limit/enabled, 0 or 1.
	PageCacheLimitEnabled *int64 `json:"pageCacheLimitEnabled,omitempty"`
	// TotalNetworkBandwidth of the node in bits per second; 0 means the speed of the network card.
	TotalNetworkBandwidth *resource.Quantity `json:"totalNetworkBandwidth,omitempty"`
}
