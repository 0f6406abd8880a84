package framework

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// instruments are the metrics of passes. The names of durations are those of sigs.k8s.io/descheduler, whose dashboards work.
type instruments struct {
	requested *prometheus.CounterVec
	loop      prometheus.Histogram
	strategy  *prometheus.HistogramVec
	passes    *prometheus.CounterVec
	lastPass  prometheus.Gauge
}

const subsystem = "descheduler"

// The values of the label result. Those of limits are the texts of their errors, as in sigs.k8s.io/descheduler.
const (
	resultSuccess = "success"
	resultError   = "error"
	resultDryRun  = "dry-run"
	resultLoop    = "loop"
)

func newInstruments(registerer prometheus.Registerer) (*instruments, error) {
	m := &instruments{
		requested: prometheus.NewCounterVec(prometheus.CounterOpts{
			Subsystem: subsystem, Name: "evictions_requested_total",
			Help: "Evictions that plugins asked for, by the result: success when a migration job was created, dry-run, error, loop when the workload goes in circles, or the limit that refused. descheduler_pods_evicted counts the evictions themselves.",
		}, []string{"result", "strategy", "profile", "namespace", "node"}),
		loop: prometheus.NewHistogram(prometheus.HistogramOpts{
			Subsystem: subsystem, Name: "loop_duration_seconds", Help: "Time of a whole pass.",
			Buckets: prometheus.ExponentialBuckets(0.01, 2, 16),
		}),
		strategy: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Subsystem: subsystem, Name: "strategy_duration_seconds", Help: "Time of a plugin in a pass.",
			Buckets: prometheus.ExponentialBuckets(0.01, 2, 14),
		}, []string{"strategy", "profile"}),
		passes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Subsystem: subsystem, Name: "passes_total",
			Help: "Passes by the result: completed, incomplete when a plugin failed, skipped when there were not two ready nodes, or error.",
		}, []string{"result"}),
		lastPass: prometheus.NewGauge(prometheus.GaugeOpts{
			Subsystem: subsystem, Name: "last_pass_timestamp_seconds", Help: "When the last pass ended.",
		}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, collector := range []prometheus.Collector{m.requested, m.loop, m.strategy, m.passes, m.lastPass} {
		if err := registerer.Register(collector); err != nil {
			return nil, fmt.Errorf("register metrics of passes: %w", err)
		}
	}
	return m, nil
}

// evicted counts an eviction that was asked for.
func (m *instruments) evicted(entry *Eviction, err error) {
	result := resultSuccess
	switch {
	case entry.Result == AlreadyLeaving:
		return
	case entry.Result == WouldCreateJob:
		result = resultDryRun
	case entry.Result == EvictionFailed:
		result = resultError
	case entry.Result == InCircles:
		result = resultLoop
	case err != nil:
		result = err.Error()
	}
	m.requested.WithLabelValues(result, entry.Plugin, entry.Profile, entry.Namespace, entry.Node).Inc()
}

func (m *instruments) ran(run *PluginRun) {
	m.strategy.WithLabelValues(run.Plugin, run.Profile).Observe(run.Duration.Seconds())
}

func (m *instruments) passed(pass *Pass, end time.Time) {
	m.loop.Observe(pass.Duration.Seconds())
	m.lastPass.Set(float64(end.UnixNano()) / float64(time.Second))
	m.passes.WithLabelValues(pass.outcome()).Inc()
}
