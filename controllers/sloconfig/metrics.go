package sloconfig

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/decision/core/configmerge"
)

var problemCount = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Name: "slo_controller_config_problems",
	Help: "Current number of problems in the ConfigMap slo-controller-config, by key and finding code.",
}, []string{"key", "code"})

var register = sync.OnceFunc(func() { metrics.Registry.MustRegister(problemCount) })

func record(problems []configmerge.Problem) {
	problemCount.Reset()
	for _, problem := range problems {
		problemCount.WithLabelValues(problem.Key, string(problem.Code)).Inc()
	}
}
