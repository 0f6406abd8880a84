package koordlet

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/decision/nodeqos/burst"
)

// featureResults is what features reported of their latest round, for explain and metrics. Its methods may be called at the same time.
type featureResults struct {
	mu sync.Mutex
	// problems of block devices, and bursts by the UIDs of pods, of the latest round. Each round replaces them.
	problems []string
	bursts   map[types.UID]burst.PodResult
	// failures of reconcilers, by their names.
	failures map[string]diagnostics.Failure
}

// record takes what features came to. It is called by the one that reads their desired values.
func (n *featureResults) record(features []qos.Feature) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, feature := range features {
		switch told := feature.(type) {
		case *qos.BlkIOReconcile:
			n.problems = told.Problems()
		case *qos.CPUBurst:
			n.bursts = told.Decided()
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

// blockIOProblems is what of block devices could not be followed.
func (n *featureResults) blockIOProblems() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.problems
}

// decidedBursts is what was decided of the pods that may burst; it must not be changed.
func (n *featureResults) decidedBursts() map[types.UID]burst.PodResult {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bursts
}

// latestFailures are the failures of reconcilers.
func (n *featureResults) latestFailures() map[string]diagnostics.Failure {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.failures)
}
