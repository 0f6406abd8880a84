package nodeslo

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	reconciles = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "slo_controller", Name: "nodeslo_reconcile_count",
		Help: "Reconciliations of NodeSLO objects, by outcome.",
	}, []string{"status", "reason"})
	parses = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "slo_controller", Name: "nodeslo_spec_parse_count",
		Help: "Derivations of a NodeSLO spec from the configuration, by outcome.",
	}, []string{"status", "reason"})
)

var register = sync.OnceFunc(func() { metrics.Registry.MustRegister(reconciles, parses) })

func count(err error) {
	if err != nil {
		reconciles.WithLabelValues("failed", "reconcileNodeSLO").Inc()
		return
	}
	reconciles.WithLabelValues("succeeded", "reconcileNodeSLO").Inc()
}

func countParse() { parses.WithLabelValues("succeeded", "getNodeSLOSpec").Inc() }
