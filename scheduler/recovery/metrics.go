package recovery

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// panics is scheduler_plugin_panics_total, served on the scheduler's own /metrics.
var panics = metrics.NewCounterVec(&metrics.CounterOpts{
	Subsystem: "scheduler", Name: "plugin_panics_total", StabilityLevel: metrics.ALPHA,
	Help: "Number of panics of the scheduler's own plugins, by plugin and extension point. Each refused a pod or a node.",
}, []string{"plugin", "extension_point"})

// Panics is the counter of one plugin and extension point.
func Panics(plugin string, point Point) metrics.CounterMetric {
	return panics.WithLabelValues(plugin, string(point))
}

// RegisterMetrics serves the metric. It may be called for each scheduler of a process.
var RegisterMetrics = sync.OnceFunc(func() { legacyregistry.MustRegister(panics) })
