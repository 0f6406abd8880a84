package noderesource

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// reportExcess sends a Warning event about a node that offers more than it has left: one per resource when the excess begins
// or its setting changes, not for every change of the amount.
func (r *reconciler) reportExcess(node *corev1.Node, found []overcommit.Excess) {
	if len(found) == 0 {
		r.reported.Delete(node.Name)
		return
	}
	var earlier []cause
	if before, ok := r.reported.Load(node.Name); ok {
		earlier, _ = before.([]cause)
	}
	now := make([]cause, 0, len(found))
	for _, e := range found {
		why := cause{resource: e.Name, value: e.Setting.Value, layer: e.Setting.Layer}
		now = append(now, why)
		if !slices.Contains(earlier, why) {
			r.recorder.Eventf(node, nil, corev1.EventTypeWarning, finding.OfferBeyondNode.Name(), "CalculateNodeResources",
				"[%s] %s", finding.OfferBeyondNode, e.Message(node.Name))
		}
	}
	r.reported.Store(node.Name, now)
}

// cause identifies why an offer is in excess, without the amounts.
type cause struct {
	resource     corev1.ResourceName
	value, layer string
}
