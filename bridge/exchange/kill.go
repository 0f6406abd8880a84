package exchange

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/bridge/engine"
	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

// excess is what an engine uses of a node beyond its capacity although the deadline is over.
type excess struct {
	node *corev1.Node
	key  string
	over engine.Amount
}

// overdue takes down an excess whose deadline is over, for engines that do not end work by themselves. What ends it has the same time again
// before more is ended.
func (r *round) overdue(s *shared, verdict thirdparty.Verdict) {
	if verdict.Reason != thirdparty.Exhausted {
		s.kept.over = time.Time{}
		return
	}
	if s.kept.over.IsZero() {
		s.kept.over = r.now
	}
	if r.now.Sub(s.kept.over) < r.settings.Deadline {
		return
	}
	s.kept.over = r.now
	r.excesses = append(r.excesses, excess{node: s.Node, key: s.key, over: less(s.own.Allocated, verdict.Capacity)})
}

// kill ends what is overdue.
func (r *round) kill(ctx context.Context) error {
	killer, ok := r.engine.(engine.Killer)
	if !ok {
		return nil
	}
	var errs []error
	for _, e := range r.excesses {
		ended, err := killer.Kill(ctx, e.key, e.over)
		if err != nil {
			errs = append(errs, fmt.Errorf("end work on node %q: %w", e.node.Name, err))
		}
		if len(ended) == 0 {
			continue
		}
		klog.FromContext(ctx).Info("Ended work beyond the capacity of a node", "node", e.node.Name, "over", e.over, "ended", ended)
		r.recorder.Eventf(e.node, nil, corev1.EventTypeWarning, "BatchWorkEnded", "Bridge",
			"%s Ended work of %s beyond what the node has in batch: %.500s", finding.EngineOverCommitted, r.allocationName(), strings.Join(ended, ", "))
	}
	return errors.Join(errs...)
}
