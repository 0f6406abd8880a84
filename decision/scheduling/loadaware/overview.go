package loadaware

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// NodeLoad says what load-aware scheduling thinks of a node before any pod is added to it. A nil metric is a node
// without one; nil args are the defaults. It is hot as soon as any configured profile is over a threshold. What the
// scheduler assigned after the last report is not part of it.
func NodeLoad(node *corev1.Node, metric *slov1alpha1.NodeMetric, args *Args, now time.Time) diagnosticsv1alpha1.LoadOverview {
	return NewPolicy(args).NodeLoad(node, metric, now, true)
}

// NodeLoad is the function of that name for callers with many nodes. What the load was judged by is left out unless operands are asked for:
// to collect it takes several times as long as to judge.
func (p *Policy) NodeLoad(object *corev1.Node, nodeMetric *slov1alpha1.NodeMetric, now time.Time, operands bool) diagnosticsv1alpha1.LoadOverview {
	node := p.observe(NodeInput{Node: object, Metric: nodeMetric}, !operands)
	metric := &node.metric
	if problem := metric.unknownBecause(now); problem != "" {
		return diagnosticsv1alpha1.LoadOverview{State: diagnosticsv1alpha1.LoadUnknown, Message: problem}
	}
	if metric.stateAt(now, p.expiration) == expired {
		overview := diagnosticsv1alpha1.LoadOverview{State: diagnosticsv1alpha1.LoadExpired, Message: expiredMessage(metric, p.expiration, now)}
		if operands {
			overview.Operands = ageOperands(metric, p.expiration, now)
		}
		return overview
	}
	return p.compareProfiles(node, now, operands)
}

// compareProfiles runs the filter for a pod that uses nothing, as a prod pod and as any other.
func (p *Policy) compareProfiles(node *Node, now time.Time, operands bool) diagnosticsv1alpha1.LoadOverview {
	overview := diagnosticsv1alpha1.LoadOverview{State: diagnosticsv1alpha1.LoadNormal}
	nothing := make([]int64, len(p.resources))
	var sentences []string
	if node.thresholds.problem != "" {
		sentences = append(sentences, "the node's own thresholds are ignored: "+node.thresholds.problem)
	}
	for _, prod := range []bool{false, true} {
		if prod && node.thresholds.prod == nil {
			continue
		}
		in := Input{Policy: p, Node: node, Pod: Estimate{Usage: nothing, Prod: prod}, Now: now}
		if !operands && Filter(in, nil).Passed() {
			continue
		}
		trace := &Trace{}
		verdict := Filter(in, trace)
		if operands {
			overview.Operands = append(overview.Operands, trace.Operands(verdict)...)
		}
		if !verdict.Passed() {
			overview.State = diagnosticsv1alpha1.LoadHot
			sentences = append(sentences, trace.Message(verdict))
		}
	}
	overview.Message = strings.Join(sentences, ", ")
	return overview
}
