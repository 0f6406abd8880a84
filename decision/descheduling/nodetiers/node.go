package nodetiers

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/descheduling/placement"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// nodeState is a node of a tier.
type nodeState struct {
	placement.NodePods
	tier  *Tier
	place placement.Node
	// left are the requests of the pods that leave the node in this pass.
	left map[corev1.ResourceName]int64
}

// tiersOf puts each node into the first tier that selects it.
func tiersOf(in *Input) [][]*nodeState {
	tiers := make([][]*nodeState, len(in.Policy.tiers))
	for i := range in.Nodes {
		set := labels.Set(in.Nodes[i].Labels)
		if !in.Policy.nodes.Matches(set) {
			continue
		}
		at := slices.IndexFunc(in.Policy.tiers, func(selector labels.Selector) bool { return selector.Matches(set) })
		if at < 0 {
			continue
		}
		tiers[at] = append(tiers[at], &nodeState{
			NodePods: in.Nodes[i], tier: &in.Policy.args.EvictionOrder[at], left: map[corev1.ResourceName]int64{},
			place: placement.NewNode(in.Nodes[i].Node, in.Nodes[i].Pods),
		})
	}
	return tiers
}

// requestedPercent is what is requested of a resource, in percent of allocatable, with more added.
func (s *nodeState) requestedPercent(name corev1.ResourceName, more int64) float64 {
	allocatable := amount.Of(name, s.Status.Allocatable[name])
	if allocatable <= 0 {
		return 0
	}
	return float64(allocatable-s.place.Free(name)-s.left[name]+more) / float64(allocatable) * 100
}

// keeps is true while no more is requested of the node than its tier keeps.
func (s *nodeState) keeps() bool {
	if s.tier.KeepThreshold == nil || len(*s.tier.KeepThreshold) == 0 {
		return false
	}
	for name, percent := range *s.tier.KeepThreshold {
		if s.requestedPercent(name, 0) > percent {
			return false
		}
	}
	return true
}

// takes is true when the node takes the pod, and no more is requested of it then than its tier accepts.
func (s *nodeState) takes(pod *placement.Pod, nodeFit bool) bool {
	if s.Spec.Unschedulable || nodeFit && !s.place.Admits(pod) || !s.place.Holds(pod) {
		return false
	}
	if s.tier.RejectThreshold == nil {
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(*s.tier.RejectThreshold)) {
		if s.requestedPercent(name, pod.Requests[name]) > (*s.tier.RejectThreshold)[name] {
			return false
		}
	}
	return true
}

// leave takes the requests of a pod from its node.
func (s *nodeState) leave(pod *corev1.Pod) {
	for name, quantity := range nodefit.RequestsOf(pod) {
		s.left[name] += amount.Of(name, quantity)
	}
}
