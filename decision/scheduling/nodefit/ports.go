package nodefit

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/refusals"
)

// HostPorts are the ports of its node that a pod asks for, for as long as it runs: an ordinary init container is gone before it
// could be in the way.
func HostPorts(pod *corev1.Pod) []corev1.ContainerPort {
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

// Ports refuses a node where a host port of the pod is taken by another pod.
func Ports(pod *corev1.Pod, others []*corev1.Pod) (refusals.Refusal, bool) {
	return ports(HostPorts(pod), others)
}

func ports(wanted []corev1.ContainerPort, others []*corev1.Pod) (refusals.Refusal, bool) {
	for _, port := range wanted {
		for _, other := range others {
			for _, taken := range HostPorts(other) {
				if conflict(port, taken) {
					return portTaken(port, other), true
				}
			}
		}
	}
	return refusals.Refusal{}, false
}

func portTaken(port corev1.ContainerPort, holder *corev1.Pod) refusals.Refusal {
	text := fmt.Sprintf("%d/%s", port.HostPort, protocolOf(port))
	return refusals.Refusal{
		Plugin: NodePorts, Code: codes[NodePorts], Reason: "node(s) didn't have free ports for the requested pod ports", Key: text,
		Phrase: fmt.Sprintf("didn't have free ports for the requested pod ports (%s)", text), Distance: 1,
		Describe: func() (string, []diagnosticsv1alpha1.Term) {
			return fmt.Sprintf("host port %s is taken by pod %s/%s", text, holder.Namespace, holder.Name), []diagnosticsv1alpha1.Term{{
				Name: "hostPort", Operator: diagnosticsv1alpha1.Info, Value: int64(port.HostPort), Unit: diagnosticsv1alpha1.Count,
				Source: &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: holder.Namespace, Name: holder.Name},
			}}
		},
	}
}

func protocolOf(port corev1.ContainerPort) corev1.Protocol {
	return cmp.Or(port.Protocol, corev1.ProtocolTCP)
}

// conflict is true for the same port and protocol on overlapping addresses.
func conflict(a, b corev1.ContainerPort) bool {
	everywhere := func(ip string) bool { return ip == "" || ip == "0.0.0.0" }
	return a.HostPort == b.HostPort && protocolOf(a) == protocolOf(b) && (a.HostIP == b.HostIP || everywhere(a.HostIP) || everywhere(b.HostIP))
}
