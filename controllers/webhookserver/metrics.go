package webhookserver

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Results of reviews that are not looked at.
const (
	resultTooLarge = "too_large"
	resultTooMany  = "too_many"
)

var refused = prometheus.NewCounterVec(prometheus.CounterOpts{
	Subsystem: "koord_manager", Name: "webhook_refused_total",
	Help: "Number of admission reviews rejected without processing: too large, or too many in flight.",
}, []string{"reason"})

var register = sync.OnceFunc(func() {
	metrics.Registry.MustRegister(refused)
	for _, reason := range []string{resultTooLarge, resultTooMany} {
		refused.WithLabelValues(reason)
	}
})

func count(reason string) { refused.WithLabelValues(reason).Inc() }
