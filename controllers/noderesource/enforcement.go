package noderesource

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// announceEnforcement tells, by an event of the node and a metric, that the node's agent cannot hold best-effort pods back, and why;
// once for each reason, not for other words of it. An event tells as well when it can again.
func (r *reconciler) announceEnforcement(node *corev1.Node, why string) {
	reason, _, _ := strings.Cut(why, ":")
	before, _ := r.unenforced.Load(node.Name)
	if told, _ := before.(string); told == reason {
		return
	}
	unenforced.DeletePartialMatch(prometheus.Labels{"node": node.Name})
	if reason == "" {
		r.unenforced.Delete(node.Name)
		r.recorder.Eventf(node, nil, corev1.EventTypeNormal, "AgentEnforcing", "CalculateNodeResources", "koordlet can limit best-effort pods again")
		return
	}
	r.unenforced.Store(node.Name, reason)
	unenforced.WithLabelValues(node.Name, reason).Set(1)
	r.recorder.Eventf(node, nil, corev1.EventTypeWarning, finding.AgentNotEnforcing.Name(), "CalculateNodeResources",
		"[%s] %s", finding.AgentNotEnforcing, overcommit.NotEnforcing(node.Name, why).Message)
}
