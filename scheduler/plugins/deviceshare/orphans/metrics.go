package orphans

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// orphansMetric is scheduler_device_strays, served on the scheduler's own /metrics by the leader.
var orphansMetric = metrics.NewGaugeVec(&metrics.GaugeOpts{
	Subsystem: "scheduler", Name: "device_strays", StabilityLevel: metrics.ALPHA,
	Help: "Number of allocations of pods on devices of a node that are gone, replaced or not healthy.",
}, []string{"node", "type"})

// registerMetrics may be called for each controller of a process.
var registerMetrics = sync.OnceFunc(func() { legacyregistry.MustRegister(orphansMetric) })

type metricLabels struct {
	node   string
	device schedulingv1alpha1.DeviceType
}

// count makes the metric say how many orphans there are; nil stands for none.
func (c *Controller) count(counted map[metricLabels]int) {
	for labels := range c.counted {
		if counted[labels] == 0 {
			orphansMetric.DeleteLabelValues(labels.node, string(labels.device))
		}
	}
	for labels, number := range counted {
		orphansMetric.WithLabelValues(labels.node, string(labels.device)).Set(float64(number))
	}
	c.counted = counted
}
