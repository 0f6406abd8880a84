package webhooks

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
)

var profiles = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Subsystem: "koord_manager", Name: "colocation_profiles",
	Help: "Number of colocation profiles, by how they are applied: policy, webhook or none.",
}, []string{"path"})

var allowedPolicies = prometheus.NewGaugeVec(prometheus.GaugeOpts{
	Subsystem: "koord_manager", Name: "admission_policy_allowed",
	Help: "1 if koord-manager has permission to manage the admission policy, 0 if it does not and works without it.",
}, []string{"policy"})

var register = sync.OnceFunc(func() { metrics.Registry.MustRegister(profiles, allowedPolicies) })

// publishRight records whether the manager has permission to keep a policy.
func publishRight(policy string, allowed bool) {
	value := 0.0
	if allowed {
		value = 1
	}
	allowedPolicies.WithLabelValues(policy).Set(value)
}

// publish records how the profiles are applied.
func publish(compiled policy.Compilation) {
	counts := map[policy.Path]int{policy.ByPolicy: 0, policy.ByWebhook: 0, policy.ByNone: 0}
	for i := range compiled.Verdicts {
		counts[compiled.Verdicts[i].Path]++
	}
	for path, count := range counts {
		profiles.WithLabelValues(string(path)).Set(float64(count))
	}
}
