package objects

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelper "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// static runs the checks that need the node alone. The texts of the reasons are those of the Kubernetes plugins.
func static(pod *corev1.Pod, node *corev1.Node) []refusal {
	var refusals []refusal
	if r, refused := cordon(pod, node); refused {
		refusals = append(refusals, r)
	}
	if r, refused := taints(pod, node); refused {
		refusals = append(refusals, r)
	}
	if r, refused := affinity(pod, node); refused {
		refusals = append(refusals, r)
	}
	return refusals
}

func cordon(pod *corev1.Pod, node *corev1.Node) (refusal, bool) {
	taint := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if !node.Spec.Unschedulable || schedulinghelper.TolerationsTolerateTaint(klog.Logger{}, pod.Spec.Tolerations, &taint, true) {
		return refusal{}, false
	}
	return refusal{
		plugin: "NodeUnschedulable", code: finding.NodeUnschedulable, reason: "node(s) were unschedulable",
		message: "the node is cordoned",
	}, true
}

// taints refuses on the first taint that the pod does not tolerate. That of a cordon is reported as the cordon.
func taints(pod *corev1.Pod, node *corev1.Node) (refusal, bool) {
	taint, found := schedulinghelper.FindMatchingUntoleratedTaint(klog.Logger{}, node.Spec.Taints, pod.Spec.Tolerations, func(t *corev1.Taint) bool {
		cordon := t.Key == corev1.TaintNodeUnschedulable && node.Spec.Unschedulable
		return !cordon && (t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute)
	}, true)
	if !found {
		return refusal{}, false
	}
	return refusal{
		plugin: "TaintToleration", code: finding.UntoleratedTaint,
		reason:  fmt.Sprintf("node(s) had untolerated taint {%s: %s}", taint.Key, taint.Value),
		message: fmt.Sprintf("the pod does not tolerate the taint %s", taint.ToString()),
	}, true
}

func affinity(pod *corev1.Pod, node *corev1.Node) (refusal, bool) {
	required := nodeaffinity.GetRequiredNodeAffinity(pod)
	if match, err := required.Match(node); match && err == nil {
		return refusal{}, false
	}
	message := "the pod's node affinity does not match the node's labels"
	for _, key := range slices.Sorted(maps.Keys(pod.Spec.NodeSelector)) {
		if got, ok := node.Labels[key]; !ok {
			message = fmt.Sprintf("the node has no label %s, the pod selects %s", key, pod.Spec.NodeSelector[key])
			break
		} else if got != pod.Spec.NodeSelector[key] {
			message = fmt.Sprintf("the node's label %s is %s, the pod selects %s", key, got, pod.Spec.NodeSelector[key])
			break
		}
	}
	return refusal{
		plugin: "NodeAffinity", code: finding.NodeAffinityMismatch,
		reason: "node(s) didn't match Pod's node affinity/selector", message: message,
	}, true
}

// ports refuses when a host port of the pod is taken.
func ports(wanted []corev1.ContainerPort, on *onNode) (refusal, bool) {
	for _, port := range wanted {
		for _, other := range on.pods {
			for _, taken := range hostPorts(other) {
				if conflict(port, taken) {
					return refusal{
						plugin: "NodePorts", code: finding.PortConflict, evictable: true,
						reason:  "node(s) didn't have free ports for the requested pod ports",
						message: fmt.Sprintf("host port %d is taken by %s/%s", port.HostPort, other.Namespace, other.Name),
						operands: []diagnosticsv1alpha1.Term{{
							Name: "hostPort", Operator: diagnosticsv1alpha1.Info, Value: int64(port.HostPort), Unit: diagnosticsv1alpha1.Count,
							Source: &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: other.Namespace, Name: other.Name},
						}},
					}, true
				}
			}
		}
	}
	return refusal{}, false
}

// hostPorts are those of all containers that stay: an ordinary init container is gone before it could be in the way.
func hostPorts(pod *corev1.Pod) []corev1.ContainerPort {
	var found []corev1.ContainerPort
	add := func(container *corev1.Container) {
		for _, port := range container.Ports {
			if port.HostPort > 0 {
				found = append(found, port)
			}
		}
	}
	for i := range pod.Spec.InitContainers {
		if policy := pod.Spec.InitContainers[i].RestartPolicy; policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			add(&pod.Spec.InitContainers[i])
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return found
}

// conflict is true for the same port and protocol on overlapping addresses.
func conflict(a, b corev1.ContainerPort) bool {
	everywhere := func(ip string) bool { return ip == "" || ip == "0.0.0.0" || ip == "::" }
	protocol := func(p corev1.Protocol) corev1.Protocol {
		if p == "" {
			return corev1.ProtocolTCP
		}
		return p
	}
	return a.HostPort == b.HostPort && protocol(a.Protocol) == protocol(b.Protocol) &&
		(a.HostIP == b.HostIP || everywhere(a.HostIP) || everywhere(b.HostIP))
}
