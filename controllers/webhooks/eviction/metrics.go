package eviction

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Results of requests to evict a pod.
const (
	resultAdmitted  = "admitted"
	resultElsewhere = "other_node"
	resultProtected = "disruption_budget"
	resultBudget    = "budget"
)

var requests = prometheus.NewCounterVec(prometheus.CounterOpts{
	Subsystem: "koord_manager", Name: "agent_evictions_total",
	Help: "Number of evictions requested by koordlet: allowed, or denied because the pod is on another node, a PodDisruptionBudget would be violated, or the eviction budget of the cluster is exhausted.",
}, []string{"result"})

var register = sync.OnceFunc(func() {
	metrics.Registry.MustRegister(requests)
	for _, result := range []string{resultAdmitted, resultElsewhere, resultProtected, resultBudget} {
		requests.WithLabelValues(result)
	}
})

func count(result string) { requests.WithLabelValues(result).Inc() }
