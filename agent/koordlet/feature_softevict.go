package koordlet

import (
	"fmt"
	"strings"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/decision/nodeqos/softeviction"
)

// softRequestsMetric is the number of requests for a soft eviction by state.
const softRequestsMetric = "soft_eviction_requests"

// softEvictFeature carries out requests for soft evictions; the evictor evicts the pods.
func softEvictFeature() FeatureSpec {
	return FeatureSpec{
		Spec:   nodefeature.SoftEvict,
		Status: (*explainer).softEvictStatus,
		Metrics: []diagnostics.Metric{{
			Name: softRequestsMetric, Labels: []string{"node", "state"},
			Help: "Pods of the node with a request for a soft eviction, by what becomes of it: due, waiting, leaving, expired or ignored.",
		}},
		Collect: (*explainer).collectSoftRequests,
	}
}

// softEvictStatus lists the requests that are not carried out as problems.
func (e *explainer) softEvictStatus(on bool) diagnostics.FeatureStatus {
	out := e.idleStatus("")
	if !on || out.State != "" {
		return out
	}
	counts := map[softeviction.State]int{}
	for _, request := range e.enforcement.evictor.SoftRequests() {
		counts[request.State]++
		if request.State == softeviction.Ignored || request.State == softeviction.Expired {
			out.Problems = append(out.Problems, fmt.Sprintf("the request for the soft eviction of pod %s is %s: %s", request.Pod, request.State, request.Reason))
		}
	}
	var parts []string
	for _, state := range softeviction.States() {
		if counts[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
		}
	}
	out.Active, out.Effective = yes(len(parts) > 0), yes(len(parts) > 0)
	if out.State = "requests for soft evictions: " + strings.Join(parts, ", "); len(parts) == 0 {
		out.State = "no pod of the node has a request for a soft eviction"
	}
	return out
}

// collectSoftRequests emits every state, also those without a request.
func (e *explainer) collectSoftRequests(emit diagnostics.Emit) {
	counts := map[softeviction.State]int{}
	for _, request := range e.enforcement.evictor.SoftRequests() {
		counts[request.State]++
	}
	for _, state := range softeviction.States() {
		emit(softRequestsMetric, float64(counts[state]), string(state))
	}
}
