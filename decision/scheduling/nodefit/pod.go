package nodefit

import (
	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"koordinator.sh/koord/decision/core/amount"
)

// Pod is a pod with what all nodes are compared with.
type Pod struct {
	*corev1.Pod
	// Requests above zero, in the units of amount.Of.
	Requests map[corev1.ResourceName]int64
	affinity nodeaffinity.RequiredNodeAffinity
	ports    []corev1.ContainerPort
}

// NewPod reads what a pod asks of its node.
func NewPod(pod *corev1.Pod) *Pod {
	requests := map[corev1.ResourceName]int64{}
	for name, quantity := range RequestsOf(pod) {
		if value := amount.Of(name, quantity); value > 0 {
			requests[name] = value
		}
	}
	return &Pod{Pod: pod, Requests: requests, affinity: nodeaffinity.GetRequiredNodeAffinity(pod), ports: HostPorts(pod)}
}

// Selects is true for a node that the node selector and the node affinity of the pod match.
func (p *Pod) Selects(node *corev1.Node) bool {
	matches, err := p.affinity.Match(node)
	return err == nil && matches
}

// RequestsOf sums what a pod requests as Kubernetes does.
func RequestsOf(pod *corev1.Pod) corev1.ResourceList {
	return resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
}
