package nodenumaresource

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/kubectl"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/reason"
)

const (
	// costUnbind is high for a label: the pod gives up its exclusive CPUs.
	costUnbind = 6.0
	costRound  = 3.0
	// costNodePolicy edits a node for all its pods.
	costNodePolicy = 12.0
	// maxNodePolicies bounds the nodes whose policies are given up.
	maxNodePolicies = 4
)

var (
	_ reason.ClusterAdviser = &Plugin{}
	_ reason.NodePolicies   = &Plugin{}
	_ reason.Remediable     = &Plugin{}
	_ reason.Relay          = &Plugin{}
	_ reason.Allocator      = &Plugin{}
)

// Relays implements reason.Relay: Filter returns the refusals of hint providers as its own.
func (p *Plugin) Relays(other fwk.Plugin) bool {
	_, provides := other.(HintProvider)
	return provides
}

// Remedies implements reason.Remediable.
func (p *Plugin) Remedies(string) reason.Remedy { return reason.SmallerRequest }

// Allocates implements reason.Allocator.
func (p *Plugin) Allocates() {}

// NodePolicyLabels implements reason.NodePolicies.
func (p *Plugin) NodePolicyLabels() []string {
	return []string{extension.LabelNodeCPUBindPolicy, extension.LabelNodeNUMATopologyPolicy}
}

// AdviseCluster proposes what Advise leaves out: a whole number of CPUs, shared CPUs in place of the pod's own, and nodes that
// impose nothing on their pods.
func (p *Plugin) AdviseCluster(_ context.Context, pod *corev1.Pod, nodes []reason.RefusedNode) []reason.Change {
	if len(nodes) == 0 {
		return nil
	}
	changes := rounded(pod, nodes[0].Info.Node().Name)
	relaxed := 0
	for _, refused := range nodes {
		node := refused.Info.Node()
		changes = append(changes, unbound(pod, node.Name)...)
		if relaxed == maxNodePolicies {
			continue
		}
		if change, imposes := p.relaxedNode(node); imposes {
			relaxed++
			changes = append(changes, change)
		}
	}
	return changes
}

// rounded asks for the next whole number of CPUs.
func rounded(pod *corev1.Pod, node string) []reason.Change {
	cpu := numa.PlainMilliCPU(pod)
	missing := (1000 - cpu%1000) % 1000
	if cpu <= 0 || missing == 0 || len(pod.Spec.Containers) == 0 {
		return nil
	}
	edited := pod.DeepCopy()
	addCPU(&edited.Spec.Containers[largestContainer(edited)].Resources, missing)
	if numa.PlainMilliCPU(edited) != cpu+missing {
		return nil // the request is not that of the containers
	}
	return []reason.Change{{Cost: costRound, Pod: edited, Fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixPod, Kind: "raiseRequest", Node: node,
		Description: fmt.Sprintf("raise the pod's cpu request from %s to %s, a whole number",
			cpuText(cpu), cpuText(cpu+missing)),
	}}}
}

func cpuText(milliCPU int64) string { return amount.Format(corev1.ResourceCPU, milliCPU) }

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
func unbound(pod *corev1.Pod, node string) []reason.Change {
	class := extension.PodQoSClass(pod)
	if class != extension.QoSLSE && class != extension.QoSLSR {
		return nil
	}
	edited := pod.DeepCopy()
	edited.Labels[extension.LabelPodQoS] = string(extension.QoSLS)
	return []reason.Change{{Cost: costUnbind, Pod: edited, Fix: diagnosticsv1alpha1.Fix{
		Target: diagnosticsv1alpha1.FixPod, Kind: "unbindCPUs", Node: node,
		Description: fmt.Sprintf("let the pod share CPUs: change its QoS class from %s to %s", class, extension.QoSLS),
		Steps: []diagnosticsv1alpha1.FixStep{kubectl.Label(kubectl.Pod(pod.Namespace, pod.Name), map[string]*string{
			extension.LabelPodQoS: kubectl.Value(string(extension.QoSLS)),
		})},
	}}}
}

// relaxedNode is a node without the policies that its labels impose on its pods; false when there are none.
func (p *Plugin) relaxedNode(node *corev1.Node) (reason.Change, bool) {
	var keys, words []string
	dropped := map[string]*string{}
	for _, key := range p.NodePolicyLabels() {
		if value, found := node.Labels[key]; found {
			keys = append(keys, key)
			dropped[key], words = kubectl.Remove, append(words, key+"="+value)
		}
	}
	if len(dropped) == 0 {
		return reason.Change{}, false
	}
	return reason.Change{
		Cost: costNodePolicy,
		Fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixCluster, Kind: "relaxNodePolicy", Node: node.Name,
			Description: fmt.Sprintf("remove label %s from node %s, which applies to all its pods", strings.Join(words, " and "), node.Name),
			Steps:       []diagnosticsv1alpha1.FixStep{kubectl.Label(kubectl.Node(node.Name), dropped)},
		},
		EditNode: func(node *corev1.Node) {
			for _, key := range keys {
				delete(node.Labels, key)
			}
		},
	}, true
}
