package elasticworkers

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

var (
	replicas = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: "koord_manager", Name: "elastic_workers_replicas",
		Help: "Number of workers of ElasticWorkers, by state: current, desired and draining.",
	}, []string{"namespace", "name", "state"})
	drains = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "koord_manager", Name: "elastic_workers_drains_total",
		Help: "Number of workers that were drained, by outcome: finished or deadline.",
	}, []string{"outcome"})
	scalings = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "koord_manager", Name: "elastic_workers_scalings_total",
		Help: "Number of changes of the size of targets, by outcome.",
	}, []string{"status"})
)

var register = sync.OnceFunc(func() { metrics.Registry.MustRegister(replicas, drains, scalings) })

func publish(object *schedulingv1alpha1.ElasticWorkers) {
	for state, value := range map[string]int{
		"current": int(object.Status.CurrentReplicas), "desired": int(object.Status.DesiredReplicas), "draining": len(object.Status.Draining),
	} {
		replicas.WithLabelValues(object.Namespace, object.Name, state).Set(float64(value))
	}
}

// forget drops the figures of ElasticWorkers that are gone.
func forget(list []schedulingv1alpha1.ElasticWorkers) {
	replicas.Reset()
	for i := range list {
		publish(&list[i])
	}
}

func countScaling(err error) {
	if err != nil {
		scalings.WithLabelValues("failed").Inc()
		return
	}
	scalings.WithLabelValues("succeeded").Inc()
}
