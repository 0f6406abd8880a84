package queryhint

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/scheduling/queryhint"
)

// Results for pods of query engines.
const (
	resultHinted     = "hinted"
	resultHot        = "hot"
	resultUnmeasured = "unmeasured"
	resultNone       = "none"
	resultFailed     = "failed"
)

var hints = prometheus.NewCounterVec(prometheus.CounterOpts{
	Subsystem: "koord_manager", Name: "query_hints_total",
	Help: "Number of pods of query engines that got a scheduling hint, or none because all nodes are hot, unmeasured or otherwise unsuitable, or because it failed.",
}, []string{"result"})

var register = sync.OnceFunc(func() {
	metrics.Registry.MustRegister(hints)
	for _, result := range []string{resultHinted, resultHot, resultUnmeasured, resultNone, resultFailed} {
		hints.WithLabelValues(result)
	}
})

func count(result string) { hints.WithLabelValues(result).Inc() }

func resultOf(verdict queryhint.Verdict) string {
	switch {
	case len(verdict.Nodes) > 0:
		return resultHinted
	case verdict.Code == finding.QueryHintHot:
		return resultHot
	case verdict.Code == finding.QueryHintUnmeasured:
		return resultUnmeasured
	}
	return resultNone
}
