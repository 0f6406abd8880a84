package koordlet

import (
	"maps"
	"sync"
	"time"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// featureResults is what features reported of their latest round, for explain and metrics. Its methods may be called at the same time.
type featureResults struct {
	mu sync.Mutex
	// latest are the results of features by their names. Each round replaces them.
	latest map[string]any
	// failures of reconcilers, by their names.
	failures map[string]diagnostics.Failure
}

// record takes what features came to. It is called by the one that reads their desired values.
func (n *featureResults) record(features []qos.Feature) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.latest = map[string]any{}
	for _, feature := range features {
		if result := specOf(feature.Name()).Result; result != nil {
			n.latest[feature.Name()] = result(feature)
		}
	}
}

// recordFailure records the failure of a reconciler.
func (n *featureResults) recordFailure(reconciler string, err error, at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failures == nil {
		n.failures = map[string]diagnostics.Failure{}
	}
	n.failures[reconciler] = diagnostics.Failure{At: at, Err: err.Error()}
}

// resultOf returns the latest result of a feature; the zero value before the first round and while the feature is off.
func resultOf[T any](of *featureResults, feature nodefeature.Spec) T {
	of.mu.Lock()
	defer of.mu.Unlock()
	result, _ := of.latest[feature.Name].(T)
	return result
}

// latestFailures are the failures of reconcilers.
func (n *featureResults) latestFailures() map[string]diagnostics.Failure {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.failures)
}
