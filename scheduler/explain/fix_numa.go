package explain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/kubectl"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
)

const (
	// costUnbind is high for a label: the pod gives up CPUs of its own.
	costUnbind = 6.0
	costRound  = 3.0
	// costNodePolicy edits a node for all its pods.
	costNodePolicy = 12.0
	// maxNodePolicies bounds the nodes whose policies are given up.
	maxNodePolicies = 4
)

// unbindings proposes, for nodes that NodeNUMAResource alone refuses, what its own advice leaves out: a whole number of CPUs,
// no CPUs of the pod's own, and nodes that demand less of their pods.
func unbindings(e *evaluation) []candidate {
	var list []candidate
	pods, nodes := false, 0
	for i, info := range e.nodes {
		if !refusedBy(e.refusals[i], nodenumaresource.Name) {
			continue
		}
		if !pods {
			pods = true
			list = append(list, rounded(e.pod, info.Node().Name)...)
		}
		list = append(list, unbound(e.pod, info.Node().Name)...)
		if relaxed := relaxedNode(info.Node()); relaxed != nil && nodes < maxNodePolicies {
			nodes++
			list = append(list, *relaxed)
		}
	}
	return keepCheapest(list, 8)
}

// rounded asks for the next whole number of CPUs.
func rounded(pod *corev1.Pod, node string) []candidate {
	cpu := numa.PlainMilliCPU(pod)
	missing := (1000 - cpu%1000) % 1000
	if cpu <= 0 || missing == 0 || len(pod.Spec.Containers) == 0 {
		return nil
	}
	edited := pod.DeepCopy()
	largest := slices.MaxFunc(indices(edited.Spec.Containers), func(a, b int) int {
		return edited.Spec.Containers[a].Resources.Requests.Cpu().Cmp(*edited.Spec.Containers[b].Resources.Requests.Cpu())
	})
	addCPU(&edited.Spec.Containers[largest].Resources, missing)
	if numa.PlainMilliCPU(edited) != cpu+missing {
		return nil // the request is not that of the containers
	}
	return []candidate{{cost: costRound, pod: edited, fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixPod, Kind: "raiseRequest", Node: node,
		Description: fmt.Sprintf("raise the pod's cpu request from %s to %s, a whole number",
			formatAmount(corev1.ResourceCPU, cpu), formatAmount(corev1.ResourceCPU, cpu+missing)),
	}}}
}

func indices[T any](list []T) []int {
	numbers := make([]int, len(list))
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

func addCPU(resources *corev1.ResourceRequirements, missing int64) {
	before := resources.Requests.Cpu().MilliValue()
	after := *resource.NewMilliQuantity(before+missing, resource.DecimalSI)
	if limit, limited := resources.Limits[corev1.ResourceCPU]; limited && limit.MilliValue() < before+missing {
		resources.Limits[corev1.ResourceCPU] = after
	}
	if resources.Requests == nil {
		resources.Requests = corev1.ResourceList{}
	}
	resources.Requests[corev1.ResourceCPU] = after
}

// unbound gives the pod the shared CPUs.
func unbound(pod *corev1.Pod, node string) []candidate {
	class := extension.PodQoSClass(pod)
	if class != extension.QoSLSE && class != extension.QoSLSR {
		return nil
	}
	edited := pod.DeepCopy()
	edited.Labels[extension.LabelPodQoS] = string(extension.QoSLS)
	return []candidate{{cost: costUnbind, pod: edited, fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixPod, Kind: "unbindCPUs", Node: node,
		Description: fmt.Sprintf("let the pod share CPUs: change its QoS class to %s from %s", extension.QoSLS, class),
		Steps: []diagnosticsv1alpha1.FixStep{kubectl.Label(kubectl.Pod(pod.Namespace, pod.Name), map[string]*string{
			extension.LabelPodQoS: kubectl.Value(string(extension.QoSLS)),
		})},
	}}}
}

// relaxedNode is a node without the policies that it imposes on its pods; nil when it imposes none by labels.
func relaxedNode(node *corev1.Node) *candidate {
	var keys, words []string
	dropped := map[string]*string{}
	for _, key := range demands {
		if value, found := node.Labels[key]; found {
			keys = append(keys, key)
			dropped[key], words = kubectl.Remove, append(words, key+"="+value)
		}
	}
	if len(dropped) == 0 {
		return nil
	}
	return &candidate{
		cost: costNodePolicy,
		fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixCluster, Kind: "relaxNodePolicy", Node: node.Name,
			Description: fmt.Sprintf("remove from node %s the requirement on all its pods: %s", node.Name, strings.Join(words, ", ")),
			Steps:       []diagnosticsv1alpha1.FixStep{kubectl.Label(kubectl.Node(node.Name), dropped)},
		},
		edit: func(w *world) (*world, error) {
			return w.editNode(node.Name, func(node *corev1.Node) {
				for _, key := range keys {
					delete(node.Labels, key)
				}
			})
		},
	}
}
