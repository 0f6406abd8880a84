package webhooks

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/decision/colocationprofile/policy"
)

var profiles = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Subsystem: "koord_manager", Name: "colocation_profiles",
	Help: "Colocation profiles by who applies them: the API server's policy, the webhook, or none.",
}, []string{"path"})

var register = sync.OnceFunc(func() { metrics.Registry.MustRegister(profiles) })

// publish tells who applies the profiles.
func publish(compiled policy.Compilation) {
	counts := map[policy.Path]int{policy.ByPolicy: 0, policy.ByWebhook: 0, policy.ByNobody: 0}
	for i := range compiled.Verdicts {
		counts[compiled.Verdicts[i].Path]++
	}
	for path, count := range counts {
		profiles.WithLabelValues(string(path)).Set(float64(count))
	}
}
