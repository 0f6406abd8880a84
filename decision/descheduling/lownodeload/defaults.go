package lownodeload

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SetDefaults fills in what the configuration leaves open.
func SetDefaults(args *Args) {
	setDefault(&args.Paused, false)
	setDefault(&args.DryRun, false)
	setDefault(&args.NodeFit, true)
	setDefault(&args.NumberOfNodes, 0)
	setDefault(&args.NodeMetricExpirationSeconds, defaultExpirationSeconds)
	setDefault(&args.DetectorCacheTimeout, metav1.Duration{Duration: defaultDetectorCacheTimeout})
	setPoolDefaults(&args.PoolSettings, &AnomalyCondition{
		Timeout: &metav1.Duration{Duration: defaultAnomalyTimeout}, ConsecutiveAbnormalities: defaultAbnormalities, ConsecutiveNormalities: defaultNormalities,
	})
	for i := range args.NodePools {
		if args.NodePools[i].Name == "" {
			args.NodePools[i].Name = fmt.Sprintf("nodePools[%d]", i)
		}
		setPoolDefaults(&args.NodePools[i].PoolSettings, args.AnomalyCondition)
	}
}

// setPoolDefaults fills in the settings of a pool. Each field of the anomaly condition that is not set is that of another.
func setPoolDefaults(settings *PoolSettings, other *AnomalyCondition) {
	setDefault(&settings.UseDeviationThresholds, false)
	if settings.AnomalyCondition == nil {
		settings.AnomalyCondition = &AnomalyCondition{}
	}
	condition := settings.AnomalyCondition
	setDefault(&condition.Timeout, *other.Timeout)
	if condition.ConsecutiveAbnormalities == 0 {
		condition.ConsecutiveAbnormalities = other.ConsecutiveAbnormalities
	}
	if condition.ConsecutiveNormalities == 0 {
		condition.ConsecutiveNormalities = other.ConsecutiveNormalities
	}
	weights := map[corev1.ResourceName]int64{corev1.ResourceCPU: 1, corev1.ResourceMemory: 1}
	for _, thresholds := range []Thresholds{settings.LowThresholds, settings.HighThresholds, settings.ProdLowThresholds, settings.ProdHighThresholds} {
		for name := range thresholds {
			weights[name] = 1
		}
	}
	maps.Copy(weights, settings.ResourceWeights)
	settings.ResourceWeights = weights
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
