package recommender

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/decision/core/podresize"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

var (
	samples = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "koord_manager", Name: "recommender_samples_total",
		Help: "Number of usage samples of containers that have a recommendation, by resource.",
	}, []string{"resource"})
	violations = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "koord_manager", Name: "recommender_violations_total",
		Help: "Number of usage samples of containers above the recommended target, by resource; divided by the samples it is the violation rate.",
	}, []string{"resource"})
	savings = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: "koord_manager", Name: "recommender_savings_ratio",
		Help: "Ratio of the requests of containers with a recommendation that the targets would free, by resource; negative if the targets exceed the requests.",
	}, []string{"resource"})
	writes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "koord_manager", Name: "recommender_status_writes_total",
		Help: "Number of status updates of Recommendations, by outcome.",
	}, []string{"status"})
	resizes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "koord_manager", Name: "recommender_resizes_total",
		Help: "Number of resizes of running pods to their recommendation, by outcome.",
	}, []string{"status"})
)

var register = sync.OnceFunc(func() { metrics.Registry.MustRegister(samples, violations, savings, writes, resizes) })

func outcome(err error) string {
	if err != nil {
		return "failed"
	}
	return "succeeded"
}

func countWrite(err error)  { writes.WithLabelValues(outcome(err)).Inc() }
func countResize(err error) { resizes.WithLabelValues(outcome(err)).Inc() }

func countSample(resource string, exceeded bool) {
	samples.WithLabelValues(resource).Inc()
	if exceeded {
		violations.WithLabelValues(resource).Inc()
	} else {
		violations.WithLabelValues(resource)
	}
}

// publishSavings compares targets with requests over all containers that have both; without any there is no figure.
func publishSavings(workloads map[types.NamespacedName]*workload, targets map[types.NamespacedName][]*corev1.Pod) {
	var requested, target [2]float64
	for key, w := range workloads {
		for _, pod := range targets[key] {
			for _, c := range podresize.Containers(pod) {
				advised, ok := w.advised[c.Name]
				if !ok {
					continue
				}
				cpu, memory := recommend.Requests(c)
				advisedTo := [2]int64{advised.CPU.Target, advised.Memory.Target}
				for i, amount := range [2]*int64{cpu, memory} {
					if amount != nil {
						requested[i] += float64(*amount)
						target[i] += float64(advisedTo[i])
					}
				}
			}
		}
	}
	for i, name := range []string{"cpu", "memory"} {
		if requested[i] == 0 {
			savings.DeleteLabelValues(name)
			continue
		}
		savings.WithLabelValues(name).Set(1 - target[i]/requested[i])
	}
}
