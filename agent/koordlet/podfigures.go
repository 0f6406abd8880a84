package koordlet

import (
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/diagnostics"
)

// podFigures are of the pods that run and were measured, taken when metrics are scraped.
func (e *explainer) podFigures() []diagnostics.PodFigure {
	var out []diagnostics.PodFigure
	for _, pod := range e.cluster.Pods() {
		if !pod.Running() {
			continue
		}
		figure := diagnostics.PodFigure{Namespace: pod.Object.Namespace, Pod: pod.Object.Name, UID: string(pod.UID)}
		if e.measurement.figure(&figure); figure.Throttled != nil || figure.BlockIO != nil {
			out = append(out, figure)
		}
	}
	return out
}

// figure fills in what was measured of a pod.
func (m *measurement) figure(of *diagnostics.PodFigure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	uid := types.UID(of.UID)
	if throttled, measured := m.metrics.PodThrottling(uid); measured {
		of.Throttled = &throttled.Ratio
	}
	if io, measured := m.metrics.PodBlockIO(uid); measured {
		of.BlockIO = &diagnostics.BlockIOFigure{ReadBytes: io.ReadBytes, WrittenBytes: io.WrittenBytes, Reads: io.Reads, Writes: io.Writes}
	}
}

// nodePressure is pressure for the node.
func (m *measurement) nodePressure() []diagnostics.PressureFigure {
	m.mu.Lock()
	defer m.mu.Unlock()
	latest, measured := m.metrics.NodePressure()
	return m.percentages(latest, measured)
}
