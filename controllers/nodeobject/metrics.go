package nodeobject

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts the outcomes of one kind's reconciliations, under upstream's names and label values. It is a
// prometheus.Collector and safe for concurrent use.
type Metrics struct {
	reconciles, parses *prometheus.CounterVec
	// kind as it stands in the values of label reason: NodeMetric.
	kind string
}

var _ prometheus.Collector = (*Metrics)(nil)

// NewMetrics returns slo_controller_{controller}_reconcile_count and slo_controller_{controller}_spec_parse_count. The
// kind is the one of the objects, such as NodeMetric.
func NewMetrics(controller, kind string) *Metrics {
	counter := func(what, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{
			Subsystem: "slo_controller", Name: controller + "_" + what + "_count", Help: help,
		}, []string{"status", "reason"})
	}
	return &Metrics{
		kind:       kind,
		reconciles: counter("reconcile", "Number of reconciliations of "+kind+" objects, by outcome."),
		parses:     counter("spec_parse", "Number of times a "+kind+" spec was computed from the configuration, by outcome."),
	}
}

// Describe sends the descriptions of both metrics.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	m.reconciles.Describe(to)
	m.parses.Describe(to)
}

// Collect sends both metrics.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	m.reconciles.Collect(to)
	m.parses.Collect(to)
}

func (m *Metrics) reconciled(err error) {
	m.reconciles.WithLabelValues(outcome(err == nil), "reconcile"+m.kind).Inc()
}

func (m *Metrics) derived(clean bool) {
	m.parses.WithLabelValues(outcome(clean), "get"+m.kind+"Spec").Inc()
}

func outcome(succeeded bool) string {
	if succeeded {
		return "succeeded"
	}
	return "failed"
}
