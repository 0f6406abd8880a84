package koordlet

import (
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/diagnostics"
)

// podMetrics are of the pods that run and were measured, taken when metrics are scraped.
func (e *explainer) podMetrics() []diagnostics.PodMetrics {
	var out []diagnostics.PodMetrics
	for _, pod := range e.cluster.Pods() {
		if !pod.Running() {
			continue
		}
		entry := diagnostics.PodMetrics{Namespace: pod.Object.Namespace, Pod: pod.Object.Name, UID: string(pod.UID)}
		if e.measurement.podMetrics(&entry); entry.Throttled != nil || entry.BlockIO != nil {
			out = append(out, entry)
		}
	}
	return out
}

// podMetrics fills in what was measured of a pod.
func (m *measurement) podMetrics(of *diagnostics.PodMetrics) {
	m.mu.Lock()
	defer m.mu.Unlock()
	uid := types.UID(of.UID)
	if throttled, measured := m.metrics.PodThrottling(uid); measured {
		of.Throttled = &throttled.Ratio
	}
	if io, measured := m.metrics.PodBlockIO(uid); measured {
		of.BlockIO = &diagnostics.BlockIOMetrics{ReadBytes: io.ReadBytes, WrittenBytes: io.WrittenBytes, Reads: io.Reads, Writes: io.Writes}
	}
}

// nodePressure is pressure for the node.
func (m *measurement) nodePressure() []diagnostics.PressureMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	latest, measured := m.metrics.NodePressure()
	return m.percentages(latest, measured)
}
