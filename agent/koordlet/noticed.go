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

// noticed is what features told of themselves last, for those who ask. Its methods may be called at the same time.
type noticed struct {
	mu sync.Mutex
	// problems of block devices, and bursts by the UIDs of pods, of the latest round. They are made anew in each.
	problems []string
	bursts   map[types.UID]burst.PodResult
	// failures of keepers, by their names.
	failures map[string]diagnostics.Failure
}

// round takes what features came to. It is called by the one that reads their desired values.
func (n *noticed) round(features []qos.Feature) {
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

// failed takes the failure of a keeper.
func (n *noticed) failed(reconciler string, err error, at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failures == nil {
		n.failures = map[string]diagnostics.Failure{}
	}
	n.failures[reconciler] = diagnostics.Failure{At: at, Err: err.Error()}
}

// block is what of block devices could not be followed.
func (n *noticed) block() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.problems
}

// burst is what was decided of the pods that may burst; it must not be changed.
func (n *noticed) burst() map[types.UID]burst.PodResult {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bursts
}

// missed are the failures of keepers.
func (n *noticed) missed() map[string]diagnostics.Failure {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.failures)
}
