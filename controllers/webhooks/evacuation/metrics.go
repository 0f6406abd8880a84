package evacuation

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Results of evictions.
const (
	resultAllowed   = "allowed"
	resultMigrating = "migrating"
	resultFailed    = "failed"
)

var requests = prometheus.NewCounterVec(prometheus.CounterOpts{
	Subsystem: "koord_manager", Name: "migrate_on_eviction_total",
	Help: "Number of evictions that were allowed, answered with status 429 while a PodMigrationJob moves the pod, or failed because the job could not be created.",
}, []string{"result"})

var register = sync.OnceFunc(func() {
	metrics.Registry.MustRegister(requests)
	for _, result := range []string{resultAllowed, resultMigrating, resultFailed} {
		requests.WithLabelValues(result)
	}
})

func count(result string) { requests.WithLabelValues(result).Inc() }
