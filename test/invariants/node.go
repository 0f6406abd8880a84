package invariants

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// Node is everything that bears on one node. Its methods change nothing.
type Node struct {
	Name string
	// Object of the node; nil when it is gone.
	Object *corev1.Node
	// Topology and Device are nil when the node has none.
	Topology *topologyv1alpha1.NodeResourceTopology
	Device   *schedulingv1alpha1.Device
	// Pods bound to the node that have not ended.
	Pods []*corev1.Pod
	// Reservations on the node that are available.
	Reservations []*schedulingv1alpha1.Reservation
}

func (n *Node) found(invariant string) *found {
	return &found{invariant: invariant, subject: "node " + n.Name}
}

// ratio is how much more of a resource the node shows than it has, at least 1.
func (n *Node) ratio(name corev1.ResourceName) extension.Ratio {
	if n.Object == nil {
		return 1
	}
	ratios, err := extension.GetNodeAmplificationRatios(n.Object.Annotations)
	if err != nil {
		return 1
	}
	return max(ratios[name], 1)
}

// WithinAllocatable adds up what pods request, and what reservations keep for pods to come, of the resources that one pod
// requests: allocatable may have shrunk below the others since. A nil pod stands for all of them.
func (n *Node) WithinAllocatable(of *corev1.Pod) []Violation {
	out := n.found(WithinAllocatable)
	if n.Object == nil {
		return nil
	}
	sum := amounts{corev1.ResourcePods: {}}
	for _, pod := range n.Pods {
		sum.add(n.charged(pod))
	}
	for _, reservation := range n.Reservations {
		sum.add(n.kept(reservation))
	}
	for name := range sum {
		limit := n.Object.Status.Allocatable[name]
		if of != nil {
			if _, requested := n.charged(of)[name]; !requested {
				continue
			}
		}
		if sum.exceeds(name, limit) {
			out.add("pods request %s of %s, allocatable is %s", sum.text(name), name, limit.String())
		}
	}
	return out.sorted()
}

// charged is what a pod counts: its requests, one pod, and for exclusive CPUs their amplified share.
func (n *Node) charged(pod *corev1.Pod) corev1.ResourceList {
	requests := requestsOf(pod).DeepCopy()
	if requests == nil {
		requests = corev1.ResourceList{}
	}
	if len(cpusOf(pod)) > 0 {
		requests[corev1.ResourceCPU] = times(requests[corev1.ResourceCPU], n.ratio(corev1.ResourceCPU))
	}
	requests[corev1.ResourcePods] = resource.MustParse("1")
	for name, quantity := range requests {
		if quantity.Sign() <= 0 {
			delete(requests, name)
		}
	}
	return requests
}

// kept is the unused part of a reservation.
func (n *Node) kept(reservation *schedulingv1alpha1.Reservation) corev1.ResourceList {
	left := reservation.Status.Allocatable.DeepCopy()
	for _, pod := range n.Pods {
		if !uses(pod, reservation) {
			continue
		}
		for name, quantity := range requestsOf(pod) {
			if rest, held := left[name]; held {
				rest.Sub(quantity)
				left[name] = rest
			}
		}
	}
	for name, quantity := range left {
		if quantity.Sign() <= 0 || name == corev1.ResourcePods {
			delete(left, name)
		}
	}
	return left
}

// holders names the pods that hold something, for a message.
func holders(pods []*corev1.Pod) string {
	names := make([]string, len(pods))
	for i, pod := range pods {
		names[i] = nameOf(pod)
	}
	slices.Sort(names)
	return strings.Join(names, " and ")
}
