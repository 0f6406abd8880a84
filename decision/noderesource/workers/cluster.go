package workers

import (
	"cmp"
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
	held   map[string][]holding
}

// claim is a worker that a decision has asked for and that does not exist yet.
type claim struct {
	request  map[corev1.ResourceName]int64
	nodes    map[string]bool
	priority int32
}

// holding is what a pod, a reservation or another scheduler holds of a node.
type holding struct {
	uid     types.UID
	amounts map[corev1.ResourceName]int64
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
		c.hold()
	}
	like := &corev1.Pod{}
	if sample != nil {
		like = sample
	}
	shape := nodefit.NewPod(like)
	for i := range c.Nodes {
		node := &c.Nodes[i]
		if node.DeletionTimestamp == nil && shape.Selects(node) {
			in.Nodes = append(in.Nodes, c.node(in, node, like, workers))
		}
	}
	c.wait(in, priorityOf(like), workers)
	c.quota(in, like, workers)
}

// Claim counts workers that were decided on as waiting for nodes, so that others decided on later do not count on the same room.
func (c *Cluster) Claim(in *Input, sample *corev1.Pod, count int32) {
	nodes := map[string]bool{}
	for i := range in.Nodes {
		nodes[in.Nodes[i].Name] = true
	}
	priority := int32(0)
	if sample != nil {
		priority = priorityOf(sample)
	}
	for range count {
		c.claims = append(c.claims, claim{request: in.Request, nodes: nodes, priority: priority})
	}
}

// hold adds up what is held of each node.
func (c *Cluster) hold() {
	c.held = make(map[string][]holding, len(c.Nodes))
	for i := range c.Bound {
		pod := &c.Bound[i]
		c.held[pod.Spec.NodeName] = append(c.held[pod.Spec.NodeName], holding{pod.UID, RequestOf(nodefit.RequestsOf(pod))})
	}
	for i := range c.Reservations {
		r := &c.Reservations[i]
		if r.Status.NodeName == "" || r.Status.Phase != schedulingv1alpha1.ReservationAvailable && r.Status.Phase != schedulingv1alpha1.ReservationWaiting {
			continue
		}
		left := map[corev1.ResourceName]int64{}
		for name, quantity := range r.Status.Allocatable {
			left[name] = max(amount.Of(name, quantity)-amount.Of(name, r.Status.Allocated[name]), 0)
		}
		c.held[r.Status.NodeName] = append(c.held[r.Status.NodeName], holding{r.UID, left})
	}
}

// node reads what is free of a node besides the workers, and what will be.
func (c *Cluster) node(in *Input, from *corev1.Node, like *corev1.Pod, workers map[types.UID]bool) Node {
	out := Node{Name: from.Name, Free: map[corev1.ResourceName]int64{}, Lost: !ready(from)}
	if _, cordoned := nodefit.Cordon(like, from); cordoned {
		out.Closed = "its node is cordoned"
	} else if refusal, tainted := nodefit.Taints(like, from, false); tainted {
		out.Closed = "its node has the taint " + refusal.Key
	}
	for name := range in.Request {
		free := amount.Of(name, from.Status.Allocatable[name])
		for _, each := range c.held[from.Name] {
			if !workers[each.uid] {
				free -= each.amounts[name]
			}
		}
		out.Free[name] = free
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

// wait adds the pods that come before workers: those of no lower priority that request any of what workers do.
func (c *Cluster) wait(in *Input, priority int32, workers map[types.UID]bool) {
	var first []*corev1.Pod
	for i := range c.Pending {
		pod := &c.Pending[i]
		if !workers[pod.UID] && pod.DeletionTimestamp == nil && len(pod.Spec.SchedulingGates) == 0 && priorityOf(pod) >= priority {
			first = append(first, pod)
		}
	}
	slices.SortFunc(first, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(priorityOf(b), priorityOf(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})
	for _, pod := range first {
		if request := RequestOf(nodefit.RequestsOf(pod)); concerns(request, in.Request) {
			in.Waiting = append(in.Waiting, Waiting{Name: pod.Namespace + "/" + pod.Name, Request: within(request, in.Request), Nodes: c.nodesOf(pod)})
		}
	}
	for _, each := range c.claims {
		if each.priority >= priority && concerns(each.request, in.Request) {
			in.Waiting = append(in.Waiting, Waiting{Name: "other workers", Request: within(each.request, in.Request), Nodes: each.nodes})
		}
	}
}

// concerns is true for a request of anything but room for a pod that workers request too.
func concerns(request, workers map[corev1.ResourceName]int64) bool {
	for name := range workers {
		if name != corev1.ResourcePods && request[name] > 0 {
			return true
		}
	}
	return false
}

// within is the part of a request that is of what workers request.
func within(request, workers map[corev1.ResourceName]int64) map[corev1.ResourceName]int64 {
	out := map[corev1.ResourceName]int64{}
	for name := range workers {
		if request[name] > 0 {
			out[name] = request[name]
		}
	}
	return out
}

// nodesOf are the nodes that a pod may get, whatever is free there; nil for all.
func (c *Cluster) nodesOf(pod *corev1.Pod) map[string]bool {
	shape, out := nodefit.NewPod(pod), map[string]bool{}
	for i := range c.Nodes {
		node := &c.Nodes[i]
		if _, tainted := nodefit.Taints(pod, node, false); !tainted && shape.Selects(node) {
			out[node.Name] = true
		}
	}
	if len(out) == len(c.Nodes) {
		return nil
	}
	return out
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// quota is how many workers the quota of the sample has room for, and each quota above it.
func (c *Cluster) quota(in *Input, like *corev1.Pod, workers map[types.UID]bool) {
	byName := make(map[string]*schedulingsigsv1alpha1.ElasticQuota, len(c.Quotas))
	for i := range c.Quotas {
		byName[c.Quotas[i].Name] = &c.Quotas[i]
	}
	run := int64(0)
	for i := range c.Bound {
		if workers[c.Bound[i].UID] {
			run++
		}
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
