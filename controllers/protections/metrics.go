package protections

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	missing = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: "koord_manager", Name: "protection_missing",
		Help: "1 if a policy, binding or webhook configuration of the chart is missing, 0 if it exists; absent if it could not be read.",
	}, []string{"kind", "name"})
	weakened = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: "koord_manager", Name: "protection_weakened",
		Help: "1 if a policy, binding or webhook configuration differs from the chart, 0 if it does not; absent if it could not be read.",
	}, []string{"kind", "name"})
)

var register = sync.OnceFunc(func() { metrics.Registry.MustRegister(missing, weakened) })
