package nodemetric

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

var (
	reconciles = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "slo_controller", Name: "nodemetric_reconcile_count",
		Help: "Reconciliations of NodeMetric objects, by outcome.",
	}, []string{"status", "reason"})
	parses = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "slo_controller", Name: "nodemetric_spec_parse_count",
		Help: "Derivations of a NodeMetric spec from the configuration, by outcome.",
	}, []string{"status", "reason"})
)

var register = sync.OnceFunc(func() { metrics.Registry.MustRegister(reconciles, parses) })

func count(err error) {
	if err != nil {
		reconciles.WithLabelValues("failed", "reconcileNodeMetric").Inc()
		return
	}
	reconciles.WithLabelValues("succeeded", "reconcileNodeMetric").Inc()
}

func countParse(clean bool) {
	if clean {
		parses.WithLabelValues("succeeded", "getNodeMetricSpec").Inc()
		return
	}
	parses.WithLabelValues("failed", "getNodeMetricSpec").Inc()
}
