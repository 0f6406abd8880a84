package loadaware

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind of the plugin arguments, in group and version kubescheduler.config.k8s.io/v1.
const Kind = "LoadAwareSchedulingArgs"

// PluginName is the scheduler plugin that applies the decision.
const PluginName = "LoadAwareScheduling"

// DefaultEstimator is the only estimator: a fixed share of the larger of request and limit.
const DefaultEstimator = "defaultEstimator"

// MaxSeconds is the longest time that Args can state, about 292 years: what a time.Duration holds.
const MaxSeconds = math.MaxInt64 / int64(time.Second)

// Args configures load-aware scheduling. The JSON is that of Koordinator's LoadAwareSchedulingArgs. A nil pointer, an
// empty map or an empty estimator stands for the default that SetDefaults fills in.
type Args struct {
	metav1.TypeMeta `json:",inline"`

	// FilterExpiredNodeMetrics refuses nodes whose NodeMetric has expired; default true. When false, an expired
	// NodeMetric is still compared with the thresholds.
	FilterExpiredNodeMetrics *bool `json:"filterExpiredNodeMetrics,omitempty"`
	// NodeMetricExpirationSeconds is the age from which a NodeMetric is expired; default 180, 1 to MaxSeconds.
	NodeMetricExpirationSeconds *int64 `json:"nodeMetricExpirationSeconds,omitempty"`
	// EnableScheduleWhenNodeMetricsExpired lets nodes with an expired NodeMetric pass; default false.
	EnableScheduleWhenNodeMetricsExpired *bool `json:"enableScheduleWhenNodeMetricsExpired,omitempty"`
	// DominantResourceWeight weighs the scarcest resource of a node in its score, 0 to 100; default 0.
	DominantResourceWeight int64 `json:"dominantResourceWeight,omitempty"`
	// ResourceWeights of the score, 1 to 100 each; default cpu 1 and memory 1, unless dominantResourceWeight is set.
	ResourceWeights map[corev1.ResourceName]int64 `json:"resourceWeights,omitempty"`
	// UsageThresholds in percent of raw allocatable, 0 to 100, 0 disables; default cpu 65 and memory 95.
	UsageThresholds map[corev1.ResourceName]int64 `json:"usageThresholds,omitempty"`
	// ProdUsageThresholds apply to prod pods and to the usage of prod pods alone; none by default.
	ProdUsageThresholds map[corev1.ResourceName]int64 `json:"prodUsageThresholds,omitempty"`
	// ProdUsageIncludeSys adds the node's system usage to the usage of prod pods; default false.
	ProdUsageIncludeSys bool `json:"prodUsageIncludeSys,omitempty"`
	// ScoreAccordingProdUsage scores prod pods by the usage of prod pods alone; default false.
	ScoreAccordingProdUsage bool `json:"scoreAccordingProdUsage,omitempty"`
	// Estimator names the way pods are estimated; default and only value defaultEstimator.
	Estimator string `json:"estimator,omitempty"`
	// EstimatedScalingFactors say which percentage of its request a pod is expected to use, 1 to 100; default cpu 85 and
	// memory 70. Cpu and memory keep their defaults when left out; other resources without a factor are estimated at 0.
	EstimatedScalingFactors map[corev1.ResourceName]int64 `json:"estimatedScalingFactors,omitempty"`
	// EstimatedSecondsAfterPodScheduled counts a pod by its estimate wherever the report was made less than so long after
	// the pod was scheduled, 0 to MaxSeconds; unset by default, which is the same as 0: what is reported counts.
	EstimatedSecondsAfterPodScheduled *int64 `json:"estimatedSecondsAfterPodScheduled,omitempty"`
	// EstimatedSecondsAfterInitialized does the same from the end of the pod's init containers, 0 to MaxSeconds. Once
	// they have ended, it is in force in place of EstimatedSecondsAfterPodScheduled.
	EstimatedSecondsAfterInitialized *int64 `json:"estimatedSecondsAfterInitialized,omitempty"`
	// AllowCustomizeEstimation honours the estimation annotations of pods; default false.
	AllowCustomizeEstimation bool `json:"allowCustomizeEstimation,omitempty"`
	// Aggregated compares percentiles over a window in place of the latest usage; unset by default. Prod thresholds,
	// where they apply, come before it.
	Aggregated *AggregatedArgs `json:"aggregated,omitempty"`
	// SupportedResources are considered beside cpu, memory and those that have a threshold, a weight or a factor. They
	// can then be given thresholds node by node.
	SupportedResources []corev1.ResourceName `json:"supportedResources,omitempty"`
}

// AggregatedArgs selects percentiles of usage.
type AggregatedArgs struct {
	// UsageThresholds in percent of raw allocatable, 0 to 100, 0 disables.
	UsageThresholds map[corev1.ResourceName]int64 `json:"usageThresholds,omitempty"`
	// UsageAggregationType is avg, p50, p90, p95 or p99.
	UsageAggregationType string `json:"usageAggregationType,omitempty"`
	// UsageAggregatedDuration is the window; zero stands for the longest one reported.
	UsageAggregatedDuration metav1.Duration `json:"usageAggregatedDuration,omitempty"`
	// ScoreAggregationType is avg, p50, p90, p95 or p99; empty scores by the latest usage.
	ScoreAggregationType string `json:"scoreAggregationType,omitempty"`
	// ScoreAggregatedDuration is the window; zero stands for the longest one reported.
	ScoreAggregatedDuration metav1.Duration `json:"scoreAggregatedDuration,omitempty"`
}

// DefaultArgs returns Args with every default filled in.
func DefaultArgs() *Args {
	args := &Args{}
	SetDefaults(args)
	return args
}

// SetDefaults fills in what the configuration leaves open.
func SetDefaults(args *Args) {
	if args.FilterExpiredNodeMetrics == nil {
		args.FilterExpiredNodeMetrics = new(true)
	}
	if args.NodeMetricExpirationSeconds == nil {
		args.NodeMetricExpirationSeconds = new(int64(180))
	}
	if args.EnableScheduleWhenNodeMetricsExpired == nil {
		args.EnableScheduleWhenNodeMetricsExpired = new(false)
	}
	if len(args.ResourceWeights) == 0 && args.DominantResourceWeight == 0 {
		args.ResourceWeights = map[corev1.ResourceName]int64{corev1.ResourceCPU: 1, corev1.ResourceMemory: 1}
	}
	if len(args.UsageThresholds) == 0 {
		args.UsageThresholds = map[corev1.ResourceName]int64{corev1.ResourceCPU: 65, corev1.ResourceMemory: 95}
	}
	if args.Estimator == "" {
		args.Estimator = DefaultEstimator
	}
	if args.EstimatedScalingFactors == nil {
		args.EstimatedScalingFactors = map[corev1.ResourceName]int64{}
	}
	for name, factor := range defaultScalingFactors {
		if _, set := args.EstimatedScalingFactors[name]; !set {
			args.EstimatedScalingFactors[name] = factor
		}
	}
}

var defaultScalingFactors = map[corev1.ResourceName]int64{corev1.ResourceCPU: 85, corev1.ResourceMemory: 70}
