package configuration

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// CalculatePolicy says what the pods above a tier are charged with when the tier's resources are calculated.
type CalculatePolicy string

const (
	// CalculateByPodUsage charges what they use; the default.
	CalculateByPodUsage CalculatePolicy = "usage"
	// CalculateByPodRequest charges what they request. For memory only.
	CalculateByPodRequest CalculatePolicy = "request"
	// CalculateByPodMaxUsageRequest charges the larger of both.
	CalculateByPodMaxUsageRequest CalculatePolicy = "maxUsageRequest"
)

// MidReclaimMode says what mid resources are calculated from.
type MidReclaimMode string

// MidReclaimModeStatic takes a fixed percentage of the node; without a mode the prediction is taken.
const MidReclaimModeStatic MidReclaimMode = "static"

// ColocationCfg is the document of ColocationConfigKey.
type ColocationCfg struct {
	ColocationStrategy `json:",inline"`
	// NodeConfigs override the strategy on groups of nodes.
	NodeConfigs []NodeColocationCfg `json:"nodeConfigs,omitempty"`
}

// NodeColocationCfg overrides the strategy on a group of nodes.
type NodeColocationCfg struct {
	NodeCfgProfile     `json:",inline"`
	ColocationStrategy `json:",inline"`
}

// ColocationStrategy says how much of a node is offered as batch and mid resources. An unset field is inherited.
type ColocationStrategy struct {
	// Enable co-location; false by default, which removes the batch and mid resources.
	Enable *bool `json:"enable,omitempty"`

	// MetricAggregateDurationSeconds is the window of the averages the agent reports; 300. At least 1.
	MetricAggregateDurationSeconds *int64 `json:"metricAggregateDurationSeconds,omitempty"`
	// MetricReportIntervalSeconds is the time between reports; 60. At least 1.
	MetricReportIntervalSeconds *int64 `json:"metricReportIntervalSeconds,omitempty"`
	// MetricAggregatePolicy lists the windows of the percentiles; 5m, 10m, 30m.
	MetricAggregatePolicy *slov1alpha1.AggregatePolicy `json:"metricAggregatePolicy,omitempty"`
	// MetricMemoryCollectPolicy says whether the page cache counts; usageWithoutPageCache.
	MetricMemoryCollectPolicy *slov1alpha1.NodeMemoryCollectPolicy `json:"metricMemoryCollectPolicy,omitempty"`

	// CPUReclaimThresholdPercent of the node may be used by all; the rest is the margin; 60. Above 100 overcommits.
	CPUReclaimThresholdPercent *int64 `json:"cpuReclaimThresholdPercent,omitempty"`
	// CPUCalculatePolicy is usage, the default, or maxUsageRequest.
	CPUCalculatePolicy *CalculatePolicy `json:"cpuCalculatePolicy,omitempty"`
	// MemoryReclaimThresholdPercent of the node may be used by all; the rest is the margin; 65.
	MemoryReclaimThresholdPercent *int64 `json:"memoryReclaimThresholdPercent,omitempty"`
	// MemoryCalculatePolicy is usage, the default, request or maxUsageRequest.
	MemoryCalculatePolicy *CalculatePolicy `json:"memoryCalculatePolicy,omitempty"`
	// DegradeTimeMinutes is the age at which a NodeMetric counts as expired; 15. At least 1.
	DegradeTimeMinutes *int64 `json:"degradeTimeMinutes,omitempty"`
	// UpdateTimeThresholdSeconds is the age at which a node's resources are written even if they did not change; 300. At least 1.
	UpdateTimeThresholdSeconds *int64 `json:"updateTimeThresholdSeconds,omitempty"`
	// ResourceDiffThreshold is the relative change at which they are written earlier; 0.1. Above 0, at most 1.
	ResourceDiffThreshold *float64 `json:"resourceDiffThreshold,omitempty"`

	// MidReclaimMode is unset by default.
	MidReclaimMode *MidReclaimMode `json:"midReclaimMode,omitempty"`
	// MidCPUThresholdPercent of allocatable is the maximum mid-cpu that is offered; 100. 0 to 100.
	MidCPUThresholdPercent *int64 `json:"midCPUThresholdPercent,omitempty"`
	// MidMemoryThresholdPercent of allocatable is the maximum mid-memory that is offered; 100. 0 to 100.
	MidMemoryThresholdPercent *int64 `json:"midMemoryThresholdPercent,omitempty"`
	// MidUnallocatedPercent of the unrequested resources is added to mid resources; 0. 0 to 100.
	MidUnallocatedPercent *int64 `json:"midUnallocatedPercent,omitempty"`
	// MidStaticCPUReservedPercent of the capacity is mid-cpu in static mode; 0. 0 to 100.
	MidStaticCPUReservedPercent *int64 `json:"midStaticCPUReservedPercent,omitempty"`
	// MidStaticMemoryReservedPercent of the capacity is mid-memory in static mode; 0. 0 to 100.
	MidStaticMemoryReservedPercent *int64 `json:"midStaticMemoryReservedPercent,omitempty"`

	// BatchCPUThresholdPercent of the capacity is the maximum batch-cpu that is offered; unlimited if unset.
	BatchCPUThresholdPercent *int64 `json:"batchCPUThresholdPercent,omitempty"`
	// BatchMemoryThresholdPercent of the capacity is the maximum batch-memory that is offered; unlimited if unset.
	BatchMemoryThresholdPercent *int64 `json:"batchMemoryThresholdPercent,omitempty"`

	// Extensions are for third parties; PredictorExtension holds a PredictorStrategy.
	Extensions map[string]json.RawMessage `json:"extensions,omitempty"`
}

// NodeColocationStrategy decodes the override in a node's annotation, nil when absent.
func NodeColocationStrategy(annotations map[string]string) (*ColocationStrategy, error) {
	return extension.DecodeAnnotation[ColocationStrategy](annotations, extension.AnnotationNodeColocationStrategy)
}

// SetNodeColocationStrategy writes the override of a node; nil removes it.
func SetNodeColocationStrategy(obj metav1.Object, strategy *ColocationStrategy) error {
	return extension.EncodeAnnotation(obj, extension.AnnotationNodeColocationStrategy, strategy)
}
