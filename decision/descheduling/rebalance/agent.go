package rebalance

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// defaultSuppressPercent is cpuSuppressThresholdPercent where it is not set.
const defaultSuppressPercent = 65

// Limits of a node as fractions of its capacity, in the order of resources: the lower one of the scheduler's threshold in percent and that
// from which the agent evicts pods; 0 for none. A nil strategy is one that is not enabled.
func Limits(resources []corev1.ResourceName, scheduler map[corev1.ResourceName]int64, agent *slov1alpha1.ResourceThresholdStrategy) []float64 {
	limits := make([]float64, len(resources))
	lower := func(r int, percent int64) {
		if fraction := float64(percent) / 100; percent > 0 && (limits[r] == 0 || fraction < limits[r]) {
			limits[r] = fraction
		}
	}
	for r, name := range resources {
		lower(r, scheduler[name])
		if !enabled(agent) {
			continue
		}
		switch {
		case name == corev1.ResourceCPU && agent.CPUEvictThresholdPercent != nil:
			lower(r, *agent.CPUEvictThresholdPercent)
		case name == corev1.ResourceMemory && agent.MemoryEvictThresholdPercent != nil:
			lower(r, *agent.MemoryEvictThresholdPercent)
		}
	}
	return limits
}

// Reclaimable is what the agent takes from best-effort pods when it holds them back, given the capacity of a node, what is used there in
// total, and what of it by best-effort pods. Only CPU can be taken from a pod that goes on running. It is nil for an agent that holds nothing
// back.
func Reclaimable(resources []corev1.ResourceName, capacity, total, bestEffort []float64, agent *slov1alpha1.ResourceThresholdStrategy) []float64 {
	at := slices.Index(resources, corev1.ResourceCPU)
	if at < 0 || !enabled(agent) || len(total) != len(resources) || len(bestEffort) != len(resources) {
		return nil
	}
	threshold, least := 0.01*defaultSuppressPercent, 0.0
	if agent.CPUSuppressThresholdPercent != nil {
		threshold = float64(*agent.CPUSuppressThresholdPercent) / 100
	}
	if agent.CPUSuppressMinPercent != nil {
		least = float64(*agent.CPUSuppressMinPercent) / 100
	}
	left := math.Max(threshold*capacity[at]-math.Max(total[at]-bestEffort[at], 0), least*capacity[at])
	taken := bestEffort[at] - math.Max(left, 0)
	if !(taken > 0) {
		return nil
	}
	reclaimable := make([]float64, len(resources))
	reclaimable[at] = taken
	return reclaimable
}

func enabled(agent *slov1alpha1.ResourceThresholdStrategy) bool {
	return agent != nil && agent.Enable != nil && *agent.Enable
}
