package jobinsight

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/decision/core/jobinsight"
)

var (
	runs = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "koord_manager", Name: "job_insight_runs_total",
		Help: "Number of runs of jobs that were learned, by how they ended.",
	}, []string{"outcome"})
	kinds = prometheus.NewGauge(prometheus.GaugeOpts{
		Subsystem: "koord_manager", Name: "job_insight_kinds",
		Help: "Number of kinds of jobs that predictions can rest on, those of all levels together.",
	})
	writes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "koord_manager", Name: "job_insight_writes_total",
		Help: "Number of writes of the ConfigMaps with what is known of jobs, by outcome.",
	}, []string{"status"})
)

var register = sync.OnceFunc(func() { metrics.Registry.MustRegister(runs, kinds, writes) })

func count(outcome jobinsight.Outcome) { runs.WithLabelValues(string(outcome)).Inc() }

func publish(store *jobinsight.Store) { kinds.Set(float64(store.Len())) }

func countWrite(err error) {
	status := "succeeded"
	if err != nil {
		status = "failed"
	}
	writes.WithLabelValues(status).Inc()
}
