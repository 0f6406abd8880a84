package noderesource

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// reportEnforcement reports in an event and a metric that koordlet on the node cannot limit best-effort pods, and why: once per
// reason, whatever the message. Another event reports the recovery.
func (r *reconciler) reportEnforcement(node *corev1.Node, why string) {
	reason, _, _ := strings.Cut(why, ":")
	before, _ := r.unenforced.Load(node.Name)
	if reported, _ := before.(string); reported == reason {
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
