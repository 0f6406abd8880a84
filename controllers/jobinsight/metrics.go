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
	engineReads = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "koord_manager", Name: "job_insight_engine_reads_total",
		Help: "Number of times that an engine was asked for applications and queries that ended, by outcome.",
	}, []string{"engine", "status"})
	engineRuns = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "koord_manager", Name: "job_insight_engine_runs_total",
		Help: "Number of applications and queries that an engine told of, each once, by result: learned or left-out.",
	}, []string{"engine", "result"})
)

var register = sync.OnceFunc(func() { metrics.Registry.MustRegister(runs, kinds, writes, engineReads, engineRuns) })

func count(outcome jobinsight.Outcome) { runs.WithLabelValues(string(outcome)).Inc() }

func publish(store *jobinsight.Store) { kinds.Set(float64(store.Len())) }

func countWrite(err error) { writes.WithLabelValues(status(err)).Inc() }

func countRead(engine string, err error) { engineReads.WithLabelValues(engine, status(err)).Inc() }

func countEvent(engine string, learned bool) {
	result := "left-out"
	if learned {
		result = "learned"
	}
	engineRuns.WithLabelValues(engine, result).Inc()
}

func status(err error) string {
	if err != nil {
		return "failed"
	}
	return "succeeded"
}
