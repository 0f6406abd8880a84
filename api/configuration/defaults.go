package configuration

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// DefaultColocationStrategy returns the built-in colocation strategy: off.
func DefaultColocationStrategy() ColocationStrategy {
	return ColocationStrategy{
		Enable:                         new(false),
		MetricAggregateDurationSeconds: new(int64(300)),
		MetricReportIntervalSeconds:    new(int64(60)),
		MetricAggregatePolicy:          DefaultAggregatePolicy(),
		MetricMemoryCollectPolicy:      new(slov1alpha1.UsageWithoutPageCache),
		CPUReclaimThresholdPercent:     new(int64(60)),
		CPUCalculatePolicy:             new(CalculateByPodUsage),
		MemoryReclaimThresholdPercent:  new(int64(65)),
		MemoryCalculatePolicy:          new(CalculateByPodUsage),
		DegradeTimeMinutes:             new(int64(15)),
		UpdateTimeThresholdSeconds:     new(int64(300)),
		ResourceDiffThreshold:          new(0.1),
		MidCPUThresholdPercent:         new(int64(100)),
		MidMemoryThresholdPercent:      new(int64(100)),
		MidUnallocatedPercent:          new(int64(0)),
		MidStaticCPUReservedPercent:    new(int64(0)),
		MidStaticMemoryReservedPercent: new(int64(0)),
	}
}

// DefaultAggregatePolicy returns the windows 5, 10 and 30 minutes.
func DefaultAggregatePolicy() *slov1alpha1.AggregatePolicy {
	return &slov1alpha1.AggregatePolicy{Durations: []metav1.Duration{
		{Duration: 5 * time.Minute}, {Duration: 10 * time.Minute}, {Duration: 30 * time.Minute},
	}}
}

// DefaultResourceThresholdStrategy returns the built-in thresholds: off.
func DefaultResourceThresholdStrategy() *slov1alpha1.ResourceThresholdStrategy {
	return &slov1alpha1.ResourceThresholdStrategy{
		Enable:                      new(false),
		CPUSuppressThresholdPercent: new(int64(65)),
		CPUSuppressPolicy:           slov1alpha1.CPUSetPolicy,
		MemoryEvictThresholdPercent: new(int64(70)),
		CPUEvictPolicy:              slov1alpha1.EvictByRealLimitPolicy,
	}
}

// DefaultCPUBurstStrategy returns the built-in burst strategy: none.
func DefaultCPUBurstStrategy() *slov1alpha1.CPUBurstStrategy {
	return &slov1alpha1.CPUBurstStrategy{
		CPUBurstConfig: slov1alpha1.CPUBurstConfig{
			Policy:                     slov1alpha1.CPUBurstNone,
			CPUBurstPercent:            new(int64(1000)),
			CFSQuotaBurstPercent:       new(int64(300)),
			CFSQuotaBurstPeriodSeconds: new(int64(-1)),
		},
		SharePoolThresholdPercent: new(int64(50)),
	}
}

// DefaultSystemStrategy returns the built-in system strategy: nothing set, bandwidth 0.
func DefaultSystemStrategy() *slov1alpha1.SystemStrategy {
	return &slov1alpha1.SystemStrategy{TotalNetworkBandwidth: resource.NewQuantity(0, resource.DecimalSI)}
}

// DefaultCPUNormalizationStrategy returns the built-in normalisation: off.
func DefaultCPUNormalizationStrategy() CPUNormalizationStrategy {
	return CPUNormalizationStrategy{Enable: new(false)}
}

// DefaultResourceAmplificationStrategy returns the built-in amplification: off.
func DefaultResourceAmplificationStrategy() ResourceAmplificationStrategy {
	return ResourceAmplificationStrategy{Enable: new(false)}
}
