package controller

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// problemsMetric is scheduler_elastic_quota_problems, served on the scheduler's own /metrics by the leader.
var problemsMetric = metrics.NewGaugeVec(&metrics.GaugeOpts{
	Subsystem: "scheduler", Name: "elastic_quota_problems", StabilityLevel: metrics.ALPHA,
	Help: "Number of problems of an ElasticQuota, by finding code.",
}, []string{"code", "namespace", "name"})

// registerMetrics may be called for each controller of a process.
var registerMetrics = sync.OnceFunc(func() { legacyregistry.MustRegister(problemsMetric) })
