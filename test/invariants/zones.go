package invariants

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
)

// zone is a NUMA node: what it can give, by resource.
type zone map[corev1.ResourceName]resource.Quantity

// zones of the node by number; none when it reports none.
func (n *Node) zones() map[int]zone {
	zones := map[int]zone{}
	if n.Topology == nil {
		return zones
	}
	for _, reported := range n.Topology.Zones {
		digits, isNode := strings.CutPrefix(reported.Name, "node-")
		number, err := strconv.Atoi(digits)
		if reported.Type != "Node" || !isNode || err != nil {
			continue
		}
		gives := zone{}
		for _, info := range reported.Resources {
			name := corev1.ResourceName(info.Name)
			gives[name] = times(info.Allocatable, n.ratio(name))
		}
		zones[number] = gives
	}
	return zones
}

// sharesOf is what a pod took from each zone by its annotation.
func sharesOf(pod *corev1.Pod) []extension.NUMANodeResource {
	status, err := extension.GetResourceStatus(pod.Annotations)
	if err != nil || status == nil {
		return nil
	}
	return status.NUMANodeResources
}

// WithinZones adds up what pods took from the zones that one pod took from; a nil pod stands for all zones. CPUs of pods
// that were not aligned count in the zones they lie in.
func (n *Node) WithinZones(of *corev1.Pod) []Violation {
	out := n.found(ZoneWithinCapacity)
	zones := n.zones()
	taken := map[int]amounts{}
	for _, pod := range n.Pods {
		for number, list := range n.takenBy(pod) {
			if taken[number] == nil {
				taken[number] = amounts{}
			}
			taken[number].add(list)
		}
	}
	for number, sum := range taken {
		gives := zones[number] // WithinPolicy names pods on zones that do not exist
		if _, took := n.takenBy(of)[number]; of != nil && !took {
			continue
		}
		for name := range sum {
			limit, offered := gives[name]
			if offered && sum.exceeds(name, limit) {
				out.add("pods took %s of %s from zone %d, which has %s", sum.text(name), name, number, limit.String())
			}
		}
	}
	return out.sorted()
}

func (n *Node) takenBy(pod *corev1.Pod) map[int]corev1.ResourceList {
	taken := map[int]corev1.ResourceList{}
	if pod == nil {
		return taken
	}
	cpus, shares := cpusOf(pod), sharesOf(pod)
	for _, share := range shares {
		list := share.Resources.DeepCopy()
		if cpu, has := list[corev1.ResourceCPU]; has && len(cpus) > 0 {
			list[corev1.ResourceCPU] = times(cpu, n.ratio(corev1.ResourceCPU))
		}
		taken[int(share.Node)] = list
	}
	layout, err := n.layout()
	if len(shares) > 0 || err != nil {
		return taken
	}
	for _, cpu := range cpus {
		number := int(layout[cpu].Node)
		whole := times(resource.MustParse("1"), n.ratio(corev1.ResourceCPU))
		if before, counted := taken[number][corev1.ResourceCPU]; counted {
			whole.Add(before)
		}
		taken[number] = corev1.ResourceList{corev1.ResourceCPU: whole}
	}
	return taken
}

// WithinPolicy checks the zones of one pod against the policy that it, or its node, demands.
func (n *Node) WithinPolicy(pod *corev1.Pod) []Violation {
	out := n.found(ZoneWithinCapacity)
	zones, shares := n.zones(), sharesOf(pod)
	for _, share := range shares {
		if _, exists := zones[int(share.Node)]; !exists {
			out.add("%s took from zone %d, which the node does not have", nameOf(pod), share.Node)
		}
	}
	single := n.policyOf(pod) == extension.NUMATopologyPolicySingleNUMANode
	if single && len(zones) > 0 && len(shares) != 1 {
		out.add("%s is on %d zones under policy SingleNUMANode", nameOf(pod), len(shares))
	}
	layout, err := n.layout()
	if err != nil || len(shares) == 0 {
		return out.sorted()
	}
	for _, cpu := range cpusOf(pod) {
		if !takes(shares, layout[cpu].Node) {
			out.add("%s owns CPU %d of zone %d, from which it took nothing", nameOf(pod), cpu, layout[cpu].Node)
		}
	}
	return out.sorted()
}

func takes(shares []extension.NUMANodeResource, number int32) bool {
	for _, share := range shares {
		if share.Node == number {
			return true
		}
	}
	return false
}

// policyOf is what the pod asks for, or else what the node demands of pods that request something of its zones.
func (n *Node) policyOf(pod *corev1.Pod) extension.NUMATopologyPolicy {
	if spec, err := extension.GetNUMATopologySpec(pod.Annotations); err == nil && spec != nil && spec.NUMATopologyPolicy != "" {
		return spec.NUMATopologyPolicy
	}
	requests := requestsOf(pod)
	for _, gives := range n.zones() {
		for name := range gives {
			if quantity := requests[name]; n.Object != nil && quantity.Sign() > 0 {
				return extension.NUMATopologyPolicy(n.Object.Labels[extension.LabelNodeNUMATopologyPolicy])
			}
		}
	}
	return ""
}
