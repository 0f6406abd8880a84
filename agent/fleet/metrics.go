package fleet

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Values of label outcome.
const (
	// reportTaken is a report the API server took.
	reportTaken = "succeeded"
	// reportFailed is one that is made again.
	reportFailed = "failed"
	// reportRefused is one the API server will never take, because its content is invalid.
	reportRefused = "refused"
	// reportMissed is one that found another version of the object than the fleet knew; it is made again.
	reportMissed = "conflicting"
	// reportGone is one whose NodeMetric was deleted meanwhile.
	reportGone = "gone"
)

// instruments are the metrics of a fleet, one prometheus.Collector so that they are registered together or not at all.
type instruments struct {
	reports, topologies *prometheus.CounterVec
	nodes, age          prometheus.GaugeFunc
}

// newInstruments registers the metrics of a fleet. A nil registerer registers nowhere.
func newInstruments(registerer prometheus.Registerer, f *fleet) (*instruments, error) {
	m := &instruments{
		reports: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "koordlet", Subsystem: "simulated", Name: "reports_total",
			Help: "Number of attempts to report a NodeMetric, by outcome; failed attempts are retried.",
		}, []string{"outcome"}),
		topologies: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "koordlet", Subsystem: "simulated", Name: "topology_writes_total",
			Help: "Number of attempts to write a NodeResourceTopology, by outcome; failed and conflicting attempts are retried.",
		}, []string{"outcome"}),
		nodes: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "koordlet", Subsystem: "simulated", Name: "nodes",
			Help: "Number of simulated nodes.",
		}, func() float64 { return float64(len(f.all())) }),
		age: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: "koordlet", Subsystem: "simulated", Name: "oldest_report_age_seconds",
			Help: "Age of the oldest last report of any node in seconds, without frozen nodes; 0 without nodes.",
		}, f.oldestReport),
	}
	for _, outcome := range []string{reportTaken, reportFailed, reportRefused, reportGone} {
		m.reports.WithLabelValues(outcome)
	}
	for _, outcome := range []string{reportTaken, reportFailed, reportRefused, reportMissed} {
		m.topologies.WithLabelValues(outcome)
	}
	if registerer == nil {
		return m, nil
	}
	if err := registerer.Register(m); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return m, nil
}

// unregister takes the metrics of a fleet that has ended away.
func (m *instruments) unregister(registerer prometheus.Registerer) {
	if registerer != nil {
		registerer.Unregister(m)
	}
}

// Describe sends the descriptions of all metrics.
func (m *instruments) Describe(to chan<- *prometheus.Desc) {
	m.reports.Describe(to)
	m.topologies.Describe(to)
	m.nodes.Describe(to)
	m.age.Describe(to)
}

// Collect sends all metrics.
func (m *instruments) Collect(to chan<- prometheus.Metric) {
	m.reports.Collect(to)
	m.topologies.Collect(to)
	m.nodes.Collect(to)
	m.age.Collect(to)
}

func (m *instruments) count(outcome string) { m.reports.WithLabelValues(outcome).Inc() }

func (m *instruments) countTopology(outcome string) { m.topologies.WithLabelValues(outcome).Inc() }

// oldestReport is the age, in seconds, of the report of the node that has waited longest.
func (f *fleet) oldestReport() float64 {
	now, oldest := f.opts.Clock.Now(), 0.0
	for _, a := range f.all() {
		if age, expected := a.reportAge(now); expected {
			oldest = max(oldest, age.Seconds())
		}
	}
	return oldest
}
