package loopguard

import corev1 "k8s.io/api/core/v1"

// Input of Check. All thresholds are in percent of what a node can allocate; a threshold that is missing is not set.
type Input struct {
	Agent       Agent
	Descheduler Descheduler
	Scheduler   Scheduler
}

// Agent has the thresholds of slo-controller-config's resource-threshold-config.
type Agent struct {
	// Enabled is resource-threshold-config.enable.
	Enabled bool
	// CPUSuppress is cpuSuppressThresholdPercent, from which best-effort pods are held back.
	CPUSuppress *float64
	// CPUEvict is cpuEvictThresholdPercent, and MemoryEvict memoryEvictThresholdPercent, from which best-effort pods are evicted.
	CPUEvict, MemoryEvict *float64
	// UsualCPUEvict and UsualMemoryEvict are the built-in defaults of these two. The scheduler's thresholds are for pods of every
	// priority, and the agent evicts best-effort pods alone: at the default or above it, that they go first is what they are for.
	// Without one, every threshold is compared.
	UsualCPUEvict, UsualMemoryEvict *float64
}

// Descheduler has the thresholds of LowNodeLoad or LoadAwareRebalancing.
type Descheduler struct {
	// Enabled is true when the plugin is in a profile.
	Enabled bool
	// Plugin is the name of the plugin.
	Plugin string
	// Pool of nodes that the thresholds are for; empty for those of the whole plugin.
	Pool string
	// Planned is true when moves are planned with their targets, of which the planner knows the other components' thresholds.
	Planned bool
	// Deviation is useDeviationThresholds: thresholds are distances from the average, and are not compared with others.
	Deviation bool
	// Low and High are lowThresholds and highThresholds; ProdLow and ProdHigh those of prod pods.
	Low, High, ProdLow, ProdHigh map[corev1.ResourceName]float64
	// Margin is targetMarginPercent of the planner.
	Margin float64
}

// Scheduler has the thresholds of LoadAwareScheduling.
type Scheduler struct {
	// Enabled is true when the plugin filters nodes.
	Enabled bool
	// Usage is usageThresholds, Prod prodUsageThresholds and Aggregated aggregated.usageThresholds.
	Usage, Prod, Aggregated map[corev1.ResourceName]float64
}

// threshold is what the scheduler compares with for most pods: a percentile when aggregated.usageThresholds are set, else the usage.
func (s *Scheduler) threshold(name corev1.ResourceName) (path string, percent float64, set bool) {
	if !s.Enabled {
		return "", 0, false
	}
	path, from := "usageThresholds.", s.Usage
	if len(s.Aggregated) > 0 {
		path, from = "aggregated.usageThresholds.", s.Aggregated
	}
	percent = from[name]
	return path + string(name), percent, percent > 0
}

// usual is true for a threshold that is not below its default.
func (a *Agent) usual(name corev1.ResourceName, percent float64) bool {
	usual := a.UsualCPUEvict
	if name == corev1.ResourceMemory {
		usual = a.UsualMemoryEvict
	}
	return usual != nil && percent >= *usual
}

// evicts is the threshold from which the agent evicts best-effort pods.
func (a *Agent) evicts(name corev1.ResourceName) (path string, percent float64, set bool) {
	path, value := "cpuEvictThresholdPercent", a.CPUEvict
	switch name {
	case corev1.ResourceCPU:
	case corev1.ResourceMemory:
		path, value = "memoryEvictThresholdPercent", a.MemoryEvict
	default:
		value = nil
	}
	if !a.Enabled || value == nil {
		return "", 0, false
	}
	return path, *value, true
}
