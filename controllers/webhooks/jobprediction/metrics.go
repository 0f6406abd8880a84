package jobprediction

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/api/extension"
)

// Results for pods of jobs.
const (
	resultPredicted = "predicted"
	resultUnknown   = "unknown"
	resultFailed    = "failed"
)

var predictions = prometheus.NewCounterVec(prometheus.CounterOpts{
	Subsystem: "koord_manager", Name: "job_predictions_total",
	Help: "Number of pods of jobs that were created with a prediction, without one because too few runs are known, or because it failed.",
}, []string{"result"})

var register = sync.OnceFunc(func() {
	metrics.Registry.MustRegister(predictions)
	for _, result := range []string{resultPredicted, resultUnknown, resultFailed} {
		predictions.WithLabelValues(result)
	}
})

func count(expected *extension.JobPrediction, err error) {
	result := resultPredicted
	switch {
	case err != nil:
		result = resultFailed
	case expected == nil:
		result = resultUnknown
	}
	predictions.WithLabelValues(result).Inc()
}
