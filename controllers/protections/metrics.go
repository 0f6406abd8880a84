package protections

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	missing = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: "koord_manager", Name: "protection_missing",
		Help: "1 for a policy, binding or webhook configuration that the chart installed and that is gone, 0 for one that exists; absent for those that could not be looked at.",
	}, []string{"kind", "name"})
	weakened = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: "koord_manager", Name: "protection_weakened",
		Help: "1 for a policy, binding or webhook configuration that is not as the chart installed it, 0 for one that is; absent for those that could not be looked at.",
	}, []string{"kind", "name"})
)

var register = sync.OnceFunc(func() { metrics.Registry.MustRegister(missing, weakened) })
