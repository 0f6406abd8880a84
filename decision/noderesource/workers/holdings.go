package workers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// amounts are in the units of package amount, by resource.
type amounts = map[corev1.ResourceName]int64

// holdings are what pods and reservations hold of nodes. They are added up once, so that an engine costs its nodes, and not their pods.
type holdings struct {
	// nodes is what is held of each.
	nodes map[string]amounts
	pods  map[types.UID]holding
}

// holding is what a pod holds of a node.
type holding struct {
	node    string
	amounts amounts
}

// holdings adds up what is held of each node.
func (c *Cluster) holdings() *holdings {
	h := &holdings{nodes: make(map[string]amounts, len(c.Nodes)), pods: make(map[types.UID]holding, len(c.Bound))}
	for i := range c.Bound {
		pod := &c.Bound[i]
		one := holding{pod.Spec.NodeName, RequestOf(nodefit.RequestsOf(pod))}
		h.pods[pod.UID] = one
		add(h.nodes, one.node, one.amounts)
	}
	for i := range c.Reservations {
		r := &c.Reservations[i]
		if r.Status.NodeName == "" || r.Status.Phase != schedulingv1alpha1.ReservationAvailable && r.Status.Phase != schedulingv1alpha1.ReservationWaiting {
			continue
		}
		left := amounts{}
		for name, quantity := range r.Status.Allocatable {
			left[name] = max(amount.Of(name, quantity)-amount.Of(name, r.Status.Allocated[name]), 0)
		}
		add(h.nodes, r.Status.NodeName, left)
	}
	return h
}

// of is what some pods hold of each node.
func (h *holdings) of(pods map[types.UID]bool) map[string]amounts {
	out := map[string]amounts{}
	for uid := range pods {
		if one, bound := h.pods[uid]; bound {
			add(out, one.node, one.amounts)
		}
	}
	return out
}

// count is how many of some pods have a node.
func (h *holdings) count(pods map[types.UID]bool) (bound int64) {
	for uid := range pods {
		if _, held := h.pods[uid]; held {
			bound++
		}
	}
	return bound
}

// add adds amounts to those of a node.
func add(to map[string]amounts, node string, more amounts) {
	sum := to[node]
	if sum == nil {
		sum = amounts{}
		to[node] = sum
	}
	for name, value := range more {
		sum[name] += value
	}
}
