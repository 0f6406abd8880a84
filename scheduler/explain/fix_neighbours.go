package explain

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

const (
	// costPrefer is that of a demand on where other pods run that becomes a wish.
	costPrefer = 3.0
	// costHostPort is higher: what reaches the pod by its node no longer does.
	costHostPort = 5.0
	// heaviest is the largest weight of a preference.
	heaviest = 100
)

// leniences proposes that the pod prefers what it demands of the pods around it, and that it does without ports of the node.
func leniences(e *evaluation) []candidate {
	var list []candidate
	for _, of := range []struct {
		plugin string
		cost   float64
		kind   string
		edit   func(*corev1.Pod) string
	}{
		{names.InterPodAffinity, costPrefer, "preferPodAffinity", preferAffinity},
		{names.InterPodAffinity, costPrefer, "preferPodAntiAffinity", preferAntiAffinity},
		{names.PodTopologySpread, costPrefer, "preferTopologySpread", preferSpread},
		{names.NodePorts, costHostPort, "removeHostPort", withoutHostPorts},
	} {
		at := slices.IndexFunc(e.refusals, func(refusals []refusal) bool { return refusedBy(refusals, of.plugin) })
		if at < 0 {
			continue
		}
		edited := e.pod.DeepCopy()
		description := of.edit(edited)
		if description == "" {
			continue
		}
		list = append(list, candidate{cost: of.cost, pod: edited, fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixPod, Kind: of.kind, Node: e.nodes[at].Node().Name, Description: description,
		}})
	}
	return list
}

// preferAffinity is an edit of a pod, described in one sentence; without one, there is nothing to change.
func preferAffinity(pod *corev1.Pod) string {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAffinity == nil {
		return ""
	}
	affinity := pod.Spec.Affinity.PodAffinity
	required := affinity.RequiredDuringSchedulingIgnoredDuringExecution
	if len(required) == 0 {
		return ""
	}
	affinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
	affinity.PreferredDuringSchedulingIgnoredDuringExecution = append(affinity.PreferredDuringSchedulingIgnoredDuringExecution, weighted(required)...)
	return "prefer the pod affinity instead of requiring it"
}

func preferAntiAffinity(pod *corev1.Pod) string {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return ""
	}
	affinity := pod.Spec.Affinity.PodAntiAffinity
	required := affinity.RequiredDuringSchedulingIgnoredDuringExecution
	if len(required) == 0 {
		return ""
	}
	affinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
	affinity.PreferredDuringSchedulingIgnoredDuringExecution = append(affinity.PreferredDuringSchedulingIgnoredDuringExecution, weighted(required)...)
	return "prefer the pod anti-affinity instead of requiring it"
}

func weighted(required []corev1.PodAffinityTerm) []corev1.WeightedPodAffinityTerm {
	list := make([]corev1.WeightedPodAffinityTerm, len(required))
	for i, term := range required {
		list[i] = corev1.WeightedPodAffinityTerm{Weight: heaviest, PodAffinityTerm: term}
	}
	return list
}

// preferSpread lets the pod run where it makes the spread uneven. How many domains there have to be is for demands only, and a key
// that the pod already prefers stays as it is.
func preferSpread(pod *corev1.Pod) string {
	var keys []string
	before := pod.Spec.TopologySpreadConstraints
	var after []corev1.TopologySpreadConstraint
	for _, constraint := range before {
		if constraint.WhenUnsatisfiable == corev1.DoNotSchedule {
			keys = append(keys, constraint.TopologyKey)
			if slices.ContainsFunc(before, func(other corev1.TopologySpreadConstraint) bool {
				return other.TopologyKey == constraint.TopologyKey && other.WhenUnsatisfiable == corev1.ScheduleAnyway
			}) {
				continue
			}
			constraint.WhenUnsatisfiable, constraint.MinDomains = corev1.ScheduleAnyway, nil
		}
		after = append(after, constraint)
	}
	if len(keys) == 0 {
		return ""
	}
	pod.Spec.TopologySpreadConstraints = after
	return fmt.Sprintf("prefer the topology spread over %s instead of requiring it: whenUnsatisfiable %s", strings.Join(keys, " and "), corev1.ScheduleAnyway)
}

// withoutHostPorts keeps the ports of the containers. Those of a pod in the network of its node are the node's.
func withoutHostPorts(pod *corev1.Pod) string {
	if pod.Spec.HostNetwork {
		return ""
	}
	texts := hostPorts(pod)
	if len(texts) == 0 {
		return ""
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for j := range containers[i].Ports {
				containers[i].Ports[j].HostPort, containers[i].Ports[j].HostIP = 0, ""
			}
		}
	}
	if len(texts) == 1 {
		return "remove host port " + texts[0]
	}
	return "remove host ports " + strings.Join(texts, " and ")
}

// hostPorts lists the ports of its node that a pod asks for.
func hostPorts(pod *corev1.Pod) []string {
	var texts []string
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for _, port := range containers[i].Ports {
				if port.HostPort > 0 {
					texts = append(texts, fmt.Sprintf("%d/%s", port.HostPort, port.Protocol))
				}
			}
		}
	}
	return texts
}
