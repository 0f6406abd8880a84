package workers

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/noderesource/outlook"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// Cluster is what Inputs are read from. Nothing in it is modified but the claims, which grow with each Input that is decided on.
type Cluster struct {
	Nodes []corev1.Node
	// Bound are pods that have a node, and Pending those that have none. None of them has ended.
	Bound, Pending []corev1.Pod
	Reservations   []schedulingv1alpha1.Reservation
	Quotas         []schedulingsigsv1alpha1.ElasticQuota
	// Outlooks are what nodes will offer, by name; a node that is not there is not predicted to change.
	Outlooks map[string][]diagnosticsv1alpha1.OfferOutlook

	claims []claim
	// held and line are made from the others by the first Read.
	held *holdings
	line []pending
}

// RequestOf is what a worker requests, in the units of package amount, with the pod itself as one of pods.
func RequestOf(requests corev1.ResourceList) map[corev1.ResourceName]int64 {
	if len(requests) == 0 {
		return nil
	}
	out := map[corev1.ResourceName]int64{corev1.ResourcePods: 1}
	for name, quantity := range requests {
		if value := amount.Of(name, quantity); value > 0 {
			out[name] = value
		}
	}
	return out
}

// Read fills in the nodes, the waiting pods and the quota of an input. The sample is a worker by which its nodes are known; nil where
// there is none, and then all nodes are counted. Workers are the UIDs of the pods that are the workers themselves.
func (c *Cluster) Read(in *Input, sample *corev1.Pod, workers map[types.UID]bool) {
	if c.held == nil {
		c.held, c.line = c.holdings(), c.lineUp()
	}
	own := c.held.of(workers)
	like := &corev1.Pod{}
	if sample != nil {
		like = sample
	}
	shape := nodefit.NewPod(like)
	for i := range c.Nodes {
		node := &c.Nodes[i]
		if node.DeletionTimestamp == nil && shape.Selects(node) {
			in.Nodes = append(in.Nodes, c.node(in, node, like, own[node.Name]))
		}
	}
	c.wait(in, priorityOf(like), workers)
	c.quota(in, like, c.held.count(workers))
}

// node reads what is free of a node besides its workers, which hold their own, and what will be.
func (c *Cluster) node(in *Input, from *corev1.Node, like *corev1.Pod, own amounts) Node {
	out := Node{Name: from.Name, Free: map[corev1.ResourceName]int64{}, Lost: !ready(from)}
	if _, cordoned := nodefit.Cordon(like, from); cordoned {
		out.Closed = "its node is cordoned"
	} else if refusal, tainted := nodefit.Taints(like, from, false); tainted {
		out.Closed = "its node has the taint " + refusal.Key
	}
	held := c.held.nodes[from.Name]
	for name := range in.Request {
		out.Free[name] = amount.Of(name, from.Status.Allocatable[name]) - held[name] + own[name]
	}
	out.Later = later(c.Outlooks[from.Name], out.Free, in.Spec.Horizon)
	return out
}

// later is what remains free when the node offers the least that it is predicted to offer within the horizon. Where predictions do not
// reach so far, the last one counts.
func later(offers []diagnosticsv1alpha1.OfferOutlook, free map[corev1.ResourceName]int64, horizon time.Duration) map[corev1.ResourceName]int64 {
	if horizon <= 0 {
		return nil
	}
	out := map[corev1.ResourceName]int64{}
	for i := range offers {
		offer, name := &offers[i], corev1.ResourceName(offers[i].Resource)
		if _, counts := free[name]; !counts || len(offer.Steps) == 0 {
			continue
		}
		least, known := outlook.LeastOffered(offer, int64(horizon/time.Second))
		if !known {
			least = offer.Steps[len(offer.Steps)-1].Offered
		}
		out[name] = free[name] - max(offer.Offered-least, 0)
	}
	return out
}

func ready(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// quota is how many workers the quota of the sample has room for, and each quota above it, beside those that run.
func (c *Cluster) quota(in *Input, like *corev1.Pod, run int64) {
	byName := make(map[string]*schedulingsigsv1alpha1.ElasticQuota, len(c.Quotas))
	for i := range c.Quotas {
		byName[c.Quotas[i].Name] = &c.Quotas[i]
	}
	name := like.Labels[extension.LabelQuotaName]
	for range len(c.Quotas) { // so that a cycle ends
		quota := byName[name]
		if quota == nil || name == extension.RootQuotaName {
			return
		}
		fits := int64(most)
		for resource, amountOfOne := range in.Request {
			if limit, limited := quota.Spec.Max[resource]; limited {
				fits = min(fits, max(amount.Of(resource, limit)-amount.Of(resource, quota.Status.Used[resource]), 0)/amountOfOne)
			}
		}
		if fits < most && (in.Quota == nil || run+fits < in.Quota.Fits) {
			in.Quota = &Quota{Name: name, Fits: run + fits}
		}
		name = quota.Labels[extension.LabelQuotaParent]
	}
}
