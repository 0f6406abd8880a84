package numa

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cpuset"
)

// Observe reads a node's labels and annotations and its NodeResourceTopology, which is nil when there is none. What
// cannot be read is named in Problems; when it could hide that a CPU is owned already, no CPU of the node is usable.
func Observe(node *corev1.Node, reported *topologyv1alpha1.NodeResourceTopology) *Node {
	out := &Node{Name: node.Name, Ratio: 1}
	out.readLabels(node.Labels)
	ratios, err := extension.GetNodeAmplificationRatios(node.Annotations)
	if err != nil {
		out.RatioInvalid = true
		out.problem(err)
	}
	out.Ratio = max(ratios[corev1.ResourceCPU], 1)
	if reported == nil {
		out.BindPolicy = extension.NodeCPUBindPolicyOf(node.Labels, nil)
		return out
	}
	kubelet, err := extension.GetKubeletCPUManagerPolicy(reported.Annotations)
	out.problem(err)
	out.BindPolicy = extension.NodeCPUBindPolicyOf(node.Labels, kubelet)
	if out.Policy == extension.NUMATopologyPolicyNone && node.Labels[extension.LabelNodeNUMATopologyPolicy] == "" {
		out.Policy = kubeletPolicy(reported.TopologyPolicies)
	}
	if err := out.readCPUs(node, reported, kubelet); err != nil {
		out.CPUs, out.Usable, out.Kept = nil, cpuset.CPUSet{}, nil
		out.problem(err)
	}
	out.readZones(reported.Zones, ratios)
	out.finish()
	return out
}

func (n *Node) problem(err error) {
	if err != nil {
		n.Problems = append(n.Problems, err.Error())
	}
}

func (n *Node) readLabels(labels map[string]string) {
	policy, err := extension.ParseNUMATopologyPolicy(labels[extension.LabelNodeNUMATopologyPolicy])
	n.Policy = policy
	n.problem(err)
	switch strategy := extension.NUMAAllocateStrategy(labels[extension.LabelNodeNUMAAllocateStrategy]); strategy {
	case "", extension.NUMAMostAllocated, extension.NUMALeastAllocated, extension.NUMADistributeEvenly:
		n.Strategy = strategy
	default:
		n.problem(fmt.Errorf("label %q: unknown strategy %.40q", extension.LabelNodeNUMAAllocateStrategy, strategy))
	}
}

// kubeletPolicy reads what the kubelet aligns by: SingleNUMANodePodLevel, RestrictedContainerLevel, BestEffort and so on.
func kubeletPolicy(reported []string) extension.NUMATopologyPolicy {
	if len(reported) == 0 {
		return extension.NUMATopologyPolicyNone
	}
	for _, policy := range []extension.NUMATopologyPolicy{extension.NUMATopologyPolicySingleNUMANode, extension.NUMATopologyPolicyRestricted, extension.NUMATopologyPolicyBestEffort} {
		if strings.HasPrefix(reported[0], string(policy)) {
			return policy
		}
	}
	return extension.NUMATopologyPolicyNone
}

func (n *Node) readCPUs(node *corev1.Node, reported *topologyv1alpha1.NodeResourceTopology, kubelet *extension.KubeletCPUManagerPolicy) error {
	detail, err := extension.GetCPUTopology(reported.Annotations)
	if err != nil {
		return err
	}
	if n.CPUs, err = cpuset.NewTopology(detail); err != nil {
		return fmt.Errorf("annotation %q: %w", extension.AnnotationNodeCPUTopology, err)
	}
	if n.Kept, err = keptCPUs(node, reported, kubelet); err != nil {
		return err
	}
	n.Usable = n.CPUs.CPUs
	for _, kept := range n.Kept {
		n.Usable = n.Usable.Difference(kept.CPUs)
	}
	return nil
}

// keptCPUs lists what pods cannot own. The node's own annotations win over their copies in the NodeResourceTopology.
func keptCPUs(node *corev1.Node, reported *topologyv1alpha1.NodeResourceTopology, kubelet *extension.KubeletCPUManagerPolicy) ([]Kept, error) {
	pods, err := kubeletPods(reported.Annotations)
	if err != nil {
		return nil, err
	}
	kept := []Kept{{By: "kubelet", CPUs: pods}}
	if kubelet != nil {
		cpus, err := cpuset.Parse(kubelet.ReservedCPUs)
		if err != nil {
			return nil, fmt.Errorf("annotation %q: %w", extension.AnnotationKubeletCPUManagerPolicy, err)
		}
		kept = append(kept, Kept{By: "kubelet reservedCPUs", CPUs: cpus})
	}
	reservation, err := extension.GetNodeReservation(holding(extension.AnnotationNodeReservation, node.Annotations, reported.Annotations))
	if err != nil {
		return nil, err
	}
	if reservation != nil {
		cpus, err := cpuset.Parse(reservation.ReservedCPUs)
		if err != nil {
			return nil, fmt.Errorf("annotation %q: %w", extension.AnnotationNodeReservation, err)
		}
		kept = append(kept, Kept{By: "node reservation", CPUs: cpus})
	}
	system, err := extension.GetSystemQOSResource(holding(extension.AnnotationSystemQOSResource, node.Annotations, reported.Annotations))
	if err != nil {
		return nil, err
	}
	if system != nil && system.IsCPUSetExclusive() {
		cpus, err := cpuset.Parse(system.CPUSet)
		if err != nil {
			return nil, fmt.Errorf("annotation %q: %w", extension.AnnotationSystemQOSResource, err)
		}
		kept = append(kept, Kept{By: "system QoS", CPUs: cpus})
	}
	return slices.DeleteFunc(kept, func(k Kept) bool { return k.CPUs.IsEmpty() }), nil
}

func holding(key string, first, second map[string]string) map[string]string {
	if first[key] != "" {
		return first
	}
	return second
}

// kubeletPods are the CPUs that the kubelet itself gave to guaranteed pods.
func kubeletPods(annotations map[string]string) (cpuset.CPUSet, error) {
	allocations, err := extension.GetPodCPUAllocs(annotations)
	if err != nil {
		return cpuset.CPUSet{}, err
	}
	var owned cpuset.CPUSet
	for _, allocation := range allocations {
		if !allocation.ManagedByKubelet {
			continue
		}
		cpus, err := cpuset.Parse(allocation.CPUSet)
		if err != nil {
			return cpuset.CPUSet{}, fmt.Errorf("annotation %q: pod %s/%s: %w", extension.AnnotationNodePodCPUAllocs, allocation.Namespace, allocation.Name, err)
		}
		owned = owned.Union(cpus)
	}
	return owned, nil
}

// Zones that are NUMA nodes have this type, and the prefix before their number.
const (
	zoneType   = "Node"
	zonePrefix = "node-"
)

// readZones takes allocatable for what a zone can give, and for cpu no more than the CPUs of its capacity that nothing
// keeps out.
func (n *Node) readZones(zones topologyv1alpha1.ZoneList, ratios map[corev1.ResourceName]extension.Ratio) {
	seen := map[int]Zone{}
	for _, zone := range zones {
		number, isNode := strings.CutPrefix(zone.Name, zonePrefix)
		id, err := strconv.Atoi(number)
		if zone.Type != zoneType || !isNode || err != nil {
			continue
		}
		if id < 0 || id >= MaxZones {
			n.problem(fmt.Errorf("zone %q: the id is not below %d", zone.Name, MaxZones))
			continue
		}
		seen[id] = Zone{ID: id, Total: n.totalOf(id, zone.Resources, ratios)}
	}
	n.Zones = slices.SortedFunc(maps.Values(seen), func(a, b Zone) int { return cmp.Compare(a.ID, b.ID) })
}

func (n *Node) totalOf(zone int, resources topologyv1alpha1.ResourceInfoList, ratios map[corev1.ResourceName]extension.Ratio) Amounts {
	total := make(Amounts, len(resources))
	for _, info := range resources {
		name := corev1.ResourceName(info.Name)
		amount := amountOf(name, info.Allocatable)
		if name == corev1.ResourceCPU && n.CPUs != nil {
			var kept cpuset.CPUSet
			for _, k := range n.Kept {
				kept = kept.Union(k.CPUs)
			}
			lost := int64(kept.Intersection(n.CPUs.Node(zone)).Len()) * 1000
			amount = max(min(amount, max(amountOf(name, info.Capacity), amount)-lost), 0)
		}
		total[name] = min(capacity.Amplify(amount, ratios[name]), maxAmount)
	}
	return total
}
