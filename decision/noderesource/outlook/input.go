package outlook

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Input is new pods that are equal, and the nodes that take them.
type Input struct {
	// Requests of one pod, by resource; only batch and mid resources are looked at.
	Requests map[string]int64
	// Nodes that take pods.
	Nodes []Node
}

// Node takes some of the pods.
type Node struct {
	Name   string
	Copies int32
	// Taken by other pods that the node gets before, by resource.
	Taken map[string]int64
	// Offers that are known of the node.
	Offers []diagnosticsv1alpha1.OfferOutlook
	// Problem says why none is known.
	Problem string
}

// of is the offer of a resource; nil where it is not known.
func (n *Node) of(resource string) *diagnosticsv1alpha1.OfferOutlook {
	for i := range n.Offers {
		if n.Offers[i].Resource == resource {
			return &n.Offers[i]
		}
	}
	return nil
}

// LeastOffered is the least that is offered in a time, and false where that is not predicted so far ahead. What is predicted without a time
// may come at any.
func LeastOffered(offer *diagnosticsv1alpha1.OfferOutlook, seconds int64) (int64, bool) {
	if offer == nil {
		return 0, false
	}
	for _, step := range offer.Steps {
		if step.WithinSeconds == 0 || step.WithinSeconds >= seconds {
			return step.Offered, true
		}
	}
	return 0, false
}
