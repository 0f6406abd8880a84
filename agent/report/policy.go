package report

import (
	"time"

	"koordinator.sh/koord/agent/metrics"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
)

const (
	// DefaultInterval between reports unless the NodeMetric names another.
	DefaultInterval = time.Minute
	// maxInterval is the longest one.
	maxInterval = time.Hour
)

// Interval is the time between reports that a NodeMetric asks for, 30 seconds to an hour.
func Interval(spec *slov1alpha1.NodeMetricSpec) time.Duration {
	policy := spec.CollectPolicy
	if policy == nil || policy.ReportIntervalSeconds == nil {
		return DefaultInterval
	}
	return seconds(*policy.ReportIntervalSeconds, freshness.MinReportInterval, maxInterval)
}

// MetricsPolicy is what a NodeMetric asks to measure, with samples taken at a given period.
func MetricsPolicy(spec *slov1alpha1.NodeMetricSpec, period time.Duration) metrics.Policy {
	out := metrics.Policy{Period: period}
	policy := spec.CollectPolicy
	if policy == nil {
		return out.WithDefaults()
	}
	if policy.AggregateDurationSeconds != nil {
		out.Aggregate = seconds(*policy.AggregateDurationSeconds, time.Second, metrics.MaxDuration)
	}
	if policy.NodeMemoryCollectPolicy != nil {
		out.Memory = *policy.NodeMemoryCollectPolicy
	}
	if policy.NodeAggregatePolicy != nil {
		for _, duration := range policy.NodeAggregatePolicy.Durations {
			out.Durations = append(out.Durations, duration.Duration)
		}
	}
	return out.WithDefaults()
}

// seconds makes a duration of a number of seconds that may be anything.
func seconds(n int64, low, high time.Duration) time.Duration {
	n = min(max(n, int64(low/time.Second)), int64(high/time.Second))
	return time.Duration(n) * time.Second
}
