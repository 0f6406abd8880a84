package noderesource

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// announce sends a Warning event about a node that offers more than it has left: one for each resource when that begins
// and when the setting behind it changes, not for every change of the amount.
func (r *reconciler) announce(node *corev1.Node, found []overcommit.Excess) {
	if len(found) == 0 {
		r.announced.Delete(node.Name)
		return
	}
	var told []cause
	if before, ok := r.announced.Load(node.Name); ok {
		told, _ = before.([]cause)
	}
	now := make([]cause, 0, len(found))
	for _, e := range found {
		why := cause{resource: e.Name, value: e.Setting.Value, layer: e.Setting.Layer}
		now = append(now, why)
		if !slices.Contains(told, why) {
			r.recorder.Eventf(node, nil, corev1.EventTypeWarning, finding.OfferBeyondNode.Name(), "CalculateNodeResources",
				"[%s] %s", finding.OfferBeyondNode, e.Message(node.Name))
		}
	}
	r.announced.Store(node.Name, now)
}

// cause is why an offer is more than there is, without the amounts.
type cause struct {
	resource     corev1.ResourceName
	value, layer string
}
