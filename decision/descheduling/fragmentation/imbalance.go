package fragmentation

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/descheduling/placement"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// nodeState is a node with what is requested of the resources that it has.
type nodeState struct {
	placement.NodePods
	place placement.Node
	// resources that the node has, with their amounts.
	resources              []corev1.ResourceName
	requested, allocatable []float64
}

func newNodeState(node placement.NodePods, names []corev1.ResourceName) *nodeState {
	s := &nodeState{NodePods: node, place: placement.NewNode(node.Node, node.Pods)}
	for _, name := range names {
		if allocatable := amount.Of(name, node.Status.Allocatable[name]); allocatable > 0 {
			s.resources = append(s.resources, name)
			s.allocatable = append(s.allocatable, float64(allocatable))
		}
	}
	s.requested = make([]float64, len(s.resources))
	for _, pod := range node.Pods {
		s.add(s.requestsOf(pod), 1)
	}
	return s
}

func (s *nodeState) requestsOf(pod *corev1.Pod) []float64 {
	list, out := nodefit.RequestsOf(pod), make([]float64, len(s.resources))
	for i, name := range s.resources {
		if name == corev1.ResourcePods {
			out[i] = 1
			continue
		}
		out[i] = float64(max(amount.Of(name, list[name]), 0))
	}
	return out
}

func (s *nodeState) add(requests []float64, sign float64) {
	for i := range requests {
		s.requested[i] += sign * requests[i]
	}
}

// imbalance is the standard deviation of the requested shares, with the requests of a pod added or taken away.
func (s *nodeState) imbalance(requests []float64, sign float64) float64 {
	if len(s.resources) == 0 {
		return 0
	}
	share := func(i int) float64 {
		if requests == nil {
			return s.requested[i] / s.allocatable[i]
		}
		return (s.requested[i] + sign*requests[i]) / s.allocatable[i]
	}
	mean, squares := 0.0, 0.0
	for i := range s.resources {
		mean += share(i) / float64(len(s.resources))
	}
	for i := range s.resources {
		squares += (share(i) - mean) * (share(i) - mean)
	}
	return math.Sqrt(squares / float64(len(s.resources)))
}
