package extension

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AnnotationCustomUsageThresholds overrides the load-aware thresholds of the scheduler on one node.
const AnnotationCustomUsageThresholds = SchedulingDomainPrefix + "usage-thresholds"

// AggregationType is a statistic over a time window.
type AggregationType string

// The statistics a NodeMetric reports.
const (
	AVG AggregationType = "avg"
	P50 AggregationType = "p50"
	P90 AggregationType = "p90"
	P95 AggregationType = "p95"
	P99 AggregationType = "p99"
)

// CustomUsageThresholds are load-aware thresholds in percent of allocatable.
type CustomUsageThresholds struct {
	// UsageThresholds of the whole node.
	UsageThresholds map[corev1.ResourceName]int64 `json:"usageThresholds,omitempty"`
	// ProdUsageThresholds of the prod pods together.
	ProdUsageThresholds map[corev1.ResourceName]int64 `json:"prodUsageThresholds,omitempty"`
	// AggregatedUsage compares a percentile instead of the average.
	AggregatedUsage *CustomAggregatedUsage `json:"aggregatedUsage,omitempty"`
}

// CustomAggregatedUsage are thresholds for a percentile.
type CustomAggregatedUsage struct {
	// UsageThresholds in percent of allocatable.
	UsageThresholds map[corev1.ResourceName]int64 `json:"usageThresholds,omitempty"`
	// UsageAggregationType is the percentile compared.
	UsageAggregationType AggregationType `json:"usageAggregationType,omitempty"`
	// UsageAggregatedDuration is the window of the percentile; the longest reported when unset.
	UsageAggregatedDuration *metav1.Duration `json:"usageAggregatedDuration,omitempty"`
}

// GetCustomUsageThresholds decodes AnnotationCustomUsageThresholds.
func GetCustomUsageThresholds(annotations map[string]string) (*CustomUsageThresholds, error) {
	return DecodeAnnotation[CustomUsageThresholds](annotations, AnnotationCustomUsageThresholds)
}

// SetCustomUsageThresholds writes AnnotationCustomUsageThresholds.
func SetCustomUsageThresholds(obj metav1.Object, thresholds *CustomUsageThresholds) error {
	return EncodeAnnotation(obj, AnnotationCustomUsageThresholds, thresholds)
}
