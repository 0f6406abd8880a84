package placement

import (
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// Pod is a pod with what it asks of a node.
type Pod = nodefit.Pod

// NewPod reads what a pod asks of a node.
func NewPod(pod *corev1.Pod) *Pod { return nodefit.NewPod(pod) }

// Node is a node with its pods and those that are on their way.
type Node struct {
	*corev1.Node
	pods, arriving []*corev1.Pod
	// requested by all of them; nil until it is asked for.
	requested map[corev1.ResourceName]int64
}

// NewNode is a node with the pods on it that have not ended.
func NewNode(node *corev1.Node, pods []*corev1.Pod) Node { return Node{Node: node, pods: pods} }

// Admits is true when the node is not cordoned, and the pod tolerates its taints and selects it.
func (n *Node) Admits(pod *Pod) bool {
	if _, cordoned := nodefit.Cordon(pod.Pod, n.Node); cordoned || len(nodefit.Untolerated(pod.Pod, n.Node, false)) > 0 {
		return false
	}
	return pod.Selects(n.Node)
}

// Holds is true when what the pod requests is free on the node, and its host ports are.
func (n *Node) Holds(pod *Pod) bool {
	if int64(len(n.pods)+len(n.arriving)) >= n.Status.Allocatable.Pods().Value() {
		return false
	}
	for name, asked := range pod.Requests {
		if asked > n.Free(name) {
			return false
		}
	}
	if _, taken := nodefit.Ports(pod.Pod, n.pods); taken {
		return false
	}
	_, taken := nodefit.Ports(pod.Pod, n.arriving)
	return !taken
}

// Fits is true when the node takes the pod.
func (n *Node) Fits(pod *Pod) bool { return n.Admits(pod) && n.Holds(pod) }

// Free is what of a resource is not requested, in the units of amount.Of.
func (n *Node) Free(name corev1.ResourceName) int64 {
	if n.requested == nil {
		n.requested = map[corev1.ResourceName]int64{}
		for _, pods := range [][]*corev1.Pod{n.pods, n.arriving} {
			for _, pod := range pods {
				n.request(pod)
			}
		}
	}
	return amount.Of(name, n.Status.Allocatable[name]) - n.requested[name]
}

// Add counts a pod that is going to come.
func (n *Node) Add(pod *corev1.Pod) {
	n.arriving = append(n.arriving, pod)
	if n.requested != nil {
		n.request(pod)
	}
}

func (n *Node) request(pod *corev1.Pod) {
	for name, quantity := range nodefit.RequestsOf(pod) {
		if asked := amount.Of(name, quantity); asked > 0 {
			n.requested[name] = min(n.requested[name], math.MaxInt64-asked) + asked
		}
	}
}

// Template are the pods that a controller made alike: what one of them cannot run on, the others cannot either.
type Template struct {
	controller     types.UID
	hash, revision string
}

// TemplateOf returns the template of a pod, false for one without a controller.
func TemplateOf(pod *corev1.Pod) (Template, bool) {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil {
		return Template{}, false
	}
	return Template{controller.UID, pod.Labels["pod-template-hash"], pod.Labels["controller-revision-hash"]}, true
}

// NodePods is a node with the pods on it that have not ended.
type NodePods struct {
	*corev1.Node
	Pods []*corev1.Pod
}

// Clone is a copy of the node to which pods can be added.
func (n *Node) Clone() Node {
	out := *n
	out.arriving, out.requested = slices.Clone(n.arriving), maps.Clone(n.requested)
	return out
}
