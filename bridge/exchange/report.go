package exchange

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/bridge/engine"
	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

// observed logs when the engine goes away and when it is back.
func (x *Exchange) observed(ctx context.Context, err error) {
	logger := klog.FromContext(ctx)
	switch {
	case err != nil && ctx.Err() == nil && !x.away:
		x.away = true
		logger.Error(err, "Failed to read the engine; both sides keep what they have", "code", finding.EngineUnavailable)
	case err == nil && x.away:
		x.away = false
		logger.Info("The engine can be read again")
	}
	up(x.engine, err == nil)
}

// count counts a round, and logs what failed of it while the engine was there, once for as long as it is the same.
func (x *Exchange) count(ctx context.Context, err error, took time.Duration) {
	countRound(x.engine, err, took)
	before := x.failed
	x.failed = ""
	if err != nil {
		x.failed = err.Error()
	}
	if err != nil && x.failed != before && !x.away {
		klog.FromContext(ctx).Error(err, "Failed to share resources with the engine")
	}
}

// report sets the metrics of a node, and records an event when pods and engine begin to hold more than there is, or the capacity is not held.
func (x *Exchange) report(ctx context.Context, node *corev1.Node, kept *remembered, own engine.Node, verdict thirdparty.Verdict) {
	setNode(x.engine, node.Name, own, verdict)
	if verdict.Send {
		klog.FromContext(ctx).V(4).Info("Changing the capacity of a node", "node", node.Name, "from", own.Capacity, "to", verdict.Capacity,
			"allocated", own.Allocated, "reason", verdict.Reason)
	}
	if verdict.Reason == thirdparty.Exhausted && kept.reported != thirdparty.Exhausted {
		x.recorder.Eventf(node, nil, corev1.EventTypeWarning, "BatchOverCommitted", "Bridge",
			"%s Pods and %s hold more than the node has in batch; containers beyond it are ended after %v", finding.EngineOverCommitted, x.allocationName(), x.settings.Deadline)
	}
	kept.reported = verdict.Reason
	if own.Warning != "" && kept.warned != own.Warning {
		x.recorder.Eventf(node, nil, corev1.EventTypeWarning, "CapacityNotHeld", "Bridge", "%s %.500s", finding.EngineCapacityNotHeld, own.Warning)
	}
	kept.warned = own.Warning
}

// reportDoubled records an event when several agents are on a node.
func (x *Exchange) reportDoubled(node *corev1.Node, kept *remembered, others []string) {
	if len(others) > 0 && !kept.doubled {
		x.recorder.Eventf(node, nil, corev1.EventTypeWarning, "AgentsDuplicate", "Bridge",
			"%s The node has more than one agent of %s; these get nothing, because another is older: %.500s",
			finding.EngineAgentDuplicate, x.allocationName(), strings.Join(others, ", "))
	}
	kept.doubled = len(others) > 0
}

// reportRemaining records an event when a node that is to take no work, as while it is drained, still runs some of the engine, and one when
// all of it has ended and been given back. Draining a node ends pods only.
func (x *Exchange) reportRemaining(s *shared, verdict thirdparty.Verdict) {
	switch {
	case !s.in.Stopped:
		s.kept.remaining = false
	case s.kept.remaining && verdict.Taken == engine.Amount{}:
		s.kept.remaining = false
		x.recorder.Eventf(s.Node, nil, corev1.EventTypeNormal, "EngineWorkEnded", "Bridge", "No work of %s is left on the node", x.allocationName())
	case !s.kept.remaining && s.own.Allocated != engine.Amount{}:
		s.kept.remaining = true
		x.recorder.Eventf(s.Node, nil, corev1.EventTypeWarning, finding.EngineWorkRemains.Name(), "Bridge",
			"%s The node takes no new work of %s, and still runs some with %v cores of batch-cpu and %v of batch-memory", finding.EngineWorkRemains,
			x.allocationName(), resource.NewMilliQuantity(s.own.Allocated.MilliCPU, resource.DecimalSI), resource.NewQuantity(s.own.Allocated.Memory, resource.BinarySI))
	}
}
