package koordlet

import (
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/host/machine"
	"koordinator.sh/koord/agent/metrics"
)

// featureMetrics are what features measure and set, and which agents of other schedulers answer, taken when metrics are scraped. There are
// at most a few for each pod.
func (e *explainer) featureMetrics() []diagnostics.Sample {
	var out []diagnostics.Sample
	for _, spec := range featureSpecs() {
		if spec.Collect != nil {
			spec.Collect(e, func(metric string, value float64, labels ...string) {
				out = append(out, diagnostics.Sample{Metric: metric, Value: value, Labels: labels})
			})
		}
	}
	return append(out, e.agentMetrics()...)
}

// describedMetrics are the metrics of all features, and of the agents of other schedulers.
func describedMetrics() []diagnostics.Metric {
	out := agentMetricsDescribed()
	for _, spec := range featureSpecs() {
		out = append(out, spec.Metrics...)
	}
	return out
}

// pressure on a pod over its latest window; nil where the kernel does not show it, or not yet.
func (m *measurement) pressure(uid types.UID) []diagnostics.PressureMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	latest, measured := m.metrics.PodPressure(uid)
	return m.percentages(latest, measured)
}

// containerPressure is pressure for a container.
func (m *measurement) containerPressure(id string) []diagnostics.PressureMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	latest, measured := m.metrics.ContainerPressure(id)
	return m.percentages(latest, measured)
}

// percentages of a window; nil where nothing was measured.
func (m *measurement) percentages(latest metrics.Pressure, measured bool) []diagnostics.PressureMetrics {
	if !measured {
		return nil
	}
	over := int((machine.Turns * m.options.SamplePeriod).Seconds())
	var out []diagnostics.PressureMetrics
	for _, each := range []struct {
		resource string
		stall    metrics.Stall
	}{{"cpu", latest.CPU}, {"mem", latest.Memory}, {"io", latest.IO}} {
		out = append(out, diagnostics.PressureMetrics{Resource: each.resource, Degree: "some", Percent: each.stall.Some * 100, OverSeconds: over},
			diagnostics.PressureMetrics{Resource: each.resource, Degree: "full", Percent: each.stall.Full * 100, OverSeconds: over})
	}
	return out
}
