package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// NodeMetric is what the agent of a node measured; its name is the node's name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="CPU",type="string",JSONPath=".status.nodeMetric.nodeUsage.resources.cpu"
// +kubebuilder:printcolumn:name="Memory",type="string",JSONPath=".status.nodeMetric.nodeUsage.resources.memory"
// +kubebuilder:printcolumn:name="Updated",type="date",JSONPath=".status.updateTime"
// +kubebuilder:printcolumn:name="Enforcing",type="string",JSONPath=".status.conditions[?(@.type==\"Enforcing\")].status"
// +kubebuilder:printcolumn:name="Reason",type="string",priority=1,JSONPath=".status.conditions[?(@.type==\"Enforcing\")].reason"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type NodeMetric struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NodeMetricSpec   `json:"spec,omitempty,omitzero"`
	Status NodeMetricStatus `json:"status,omitempty,omitzero"`
}

// NodeMetricList is a list of NodeMetric.
//
// +kubebuilder:object:root=true
type NodeMetricList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeMetric `json:"items"`
}

// NodeMetricSpec says what to measure.
//
// +kubebuilder:pruning:PreserveUnknownFields
type NodeMetricSpec struct {
	// CollectPolicy is derived from the colocation strategy of the node.
	CollectPolicy *NodeMetricCollectPolicy `json:"metricCollectPolicy,omitempty"`
}

// NodeMemoryCollectPolicy says whether the page cache counts as used memory.
//
// +kubebuilder:validation:Enum=usageWithHotPageCache;usageWithoutPageCache;usageWithPageCache
type NodeMemoryCollectPolicy string

const (
	// UsageWithoutPageCache does not count the page cache; the default.
	UsageWithoutPageCache NodeMemoryCollectPolicy = "usageWithoutPageCache"
	// UsageWithHotPageCache counts the pages that are in use.
	UsageWithHotPageCache NodeMemoryCollectPolicy = "usageWithHotPageCache"
	// UsageWithPageCache counts all of it.
	UsageWithPageCache NodeMemoryCollectPolicy = "usageWithPageCache"
)

// NodeMetricCollectPolicy says how often to report and what to aggregate.
//
// +kubebuilder:pruning:PreserveUnknownFields
type NodeMetricCollectPolicy struct {
	// AggregateDurationSeconds is the window of the averages; 300 by default.
	// +kubebuilder:validation:Minimum=1
	AggregateDurationSeconds *int64 `json:"aggregateDurationSeconds,omitempty"`
	// ReportIntervalSeconds is the time between reports; 60 by default.
	// +kubebuilder:validation:Minimum=1
	ReportIntervalSeconds *int64 `json:"reportIntervalSeconds,omitempty"`
	// NodeAggregatePolicy lists the windows of the percentiles.
	NodeAggregatePolicy *AggregatePolicy `json:"nodeAggregatePolicy,omitempty"`
	// NodeMemoryCollectPolicy says whether the page cache counts; usageWithoutPageCache by default.
	NodeMemoryCollectPolicy *NodeMemoryCollectPolicy `json:"nodeMemoryCollectPolicy,omitempty"`
}

// AggregatePolicy lists the windows of the percentiles.
//
// +kubebuilder:pruning:PreserveUnknownFields
type AggregatePolicy struct {
	// Durations of the windows; 5m, 10m and 30m by default.
	Durations []metav1.Duration `json:"durations,omitempty"`
}

// NodeMetricStatus is what was measured.
//
// +kubebuilder:pruning:PreserveUnknownFields
type NodeMetricStatus struct {
	// UpdateTime of the report.
	UpdateTime *metav1.Time `json:"updateTime,omitempty"`
	// NodeMetric is the use of the whole node.
	NodeMetric *NodeMetricInfo `json:"nodeMetric,omitempty"`
	// PodsMetric is the use of each pod.
	PodsMetric []*PodMetricInfo `json:"podsMetric,omitempty"`
	// HostApplicationMetric is the use of applications outside of Kubernetes.
	HostApplicationMetric []*HostApplicationMetricInfo `json:"hostApplicationMetric,omitempty"`
	// ProdReclaimableMetric is requests of prod pods that are predicted to stay unused.
	ProdReclaimableMetric *ReclaimableMetric `json:"prodReclaimableMetric,omitempty"`
	// ProdPeakMetric is the predicted peak of the prod pods.
	ProdPeakMetric *ReclaimableMetric `json:"prodPeakMetric,omitempty"`
	// Conditions of koordlet. Enforcing is False while it cannot limit best-effort pods; absent if koordlet does not report it.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// NodeMetricEnforcing is the type of the condition that says whether the agent can hold best-effort pods to what services leave.
const NodeMetricEnforcing = "Enforcing"

// Reasons of the condition Enforcing.
const (
	// ReasonEnforcing is why it is True.
	ReasonEnforcing = "Enforcing"
	// ReasonOriginalsUnreadable means that the agent does not know what was there before it, and therefore sets nothing.
	ReasonOriginalsUnreadable = "OriginalsUnreadable"
	// ReasonOriginalsNotSaved means that the agent cannot keep what is there before it, and therefore sets nothing of new pods.
	ReasonOriginalsNotSaved = "OriginalsNotSaved"
	// ReasonWritesRefused means that the kernel refuses most of what a feature that protects services wants.
	ReasonWritesRefused = "WritesRefused"
	// ReasonObjectsUnread means that the agent was started and has not read the node's objects yet, NodeSLO among them.
	ReasonObjectsUnread = "ObjectsUnread"
	// ReasonReadOnly means that koordlet runs with --read-only.
	ReasonReadOnly = "ReadOnly"
)

// ResourceMap is an amount of resources, and of single devices.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ResourceMap struct {
	corev1.ResourceList `json:"resources,omitempty"`
	// Devices, each with the amount of its resources.
	Devices []schedulingv1alpha1.DeviceInfo `json:"devices,omitempty"`
}

// NodeMetricInfo is the use of the whole node.
//
// +kubebuilder:pruning:PreserveUnknownFields
type NodeMetricInfo struct {
	// NodeUsage is the average use of the node.
	NodeUsage ResourceMap `json:"nodeUsage,omitempty,omitzero"`
	// AggregatedNodeUsages are percentiles of it.
	AggregatedNodeUsages []AggregatedUsage `json:"aggregatedNodeUsages,omitempty"`
	// SystemUsage is the use of the node less that of its pods.
	SystemUsage ResourceMap `json:"systemUsage,omitempty,omitzero"`
	// AggregatedSystemUsages are percentiles of it.
	AggregatedSystemUsages []AggregatedUsage `json:"aggregatedSystemUsages,omitempty"`
	// NUMAUsages is the use of each NUMA node.
	NUMAUsages []NUMAUsage `json:"numaUsages,omitempty"`
}

// NUMAUsage is the use of one NUMA node.
//
// +kubebuilder:pruning:PreserveUnknownFields
type NUMAUsage struct {
	// NUMANodeID of the NUMA node.
	NUMANodeID int32 `json:"numaNodeID"`
	// NodeUsage is the use of the NUMA node.
	NodeUsage ResourceMap `json:"nodeUsage,omitempty,omitzero"`
	// SystemUsage is the use less that of the pods.
	SystemUsage ResourceMap `json:"systemUsage,omitempty,omitzero"`
}

// AggregatedUsage is a set of statistics over one window.
//
// +kubebuilder:pruning:PreserveUnknownFields
type AggregatedUsage struct {
	// Usage by statistic: avg, p50, p90, p95, p99.
	Usage map[extension.AggregationType]ResourceMap `json:"usage,omitempty"`
	// Duration of the window.
	Duration metav1.Duration `json:"duration,omitempty,omitzero"`
}

// PodMetricInfo is the use of one pod.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PodMetricInfo struct {
	// Name of the pod.
	Name string `json:"name,omitempty"`
	// Namespace of the pod.
	Namespace string `json:"namespace,omitempty"`
	// PodUsage is the average use of the pod.
	PodUsage ResourceMap `json:"podUsage,omitempty,omitzero"`
	// Priority class of the pod.
	Priority extension.PriorityClass `json:"priority,omitempty"`
	// QoS class of the pod.
	QoS extension.QoSClass `json:"qos,omitempty"`
	// Extensions are for third parties.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Extensions *runtime.RawExtension `json:"extensions,omitempty"`
}

// HostApplicationMetricInfo is the use of one host application outside Kubernetes.
//
// +kubebuilder:pruning:PreserveUnknownFields
type HostApplicationMetricInfo struct {
	// Name of the application.
	Name string `json:"name,omitempty"`
	// Usage of the application.
	Usage ResourceMap `json:"usage,omitempty,omitzero"`
	// Priority class of the application.
	Priority extension.PriorityClass `json:"priority,omitempty"`
	// QoS class of the application.
	QoS extension.QoSClass `json:"qos,omitempty"`
}

// ReclaimableMetric is a predicted amount.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ReclaimableMetric struct {
	// Resource amounts.
	Resource ResourceMap `json:"resource,omitempty,omitzero"`
}
