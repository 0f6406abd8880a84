package invariants

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// cpusOf are the CPUs that a pod owns by its annotation; none when it cannot be read.
func cpusOf(pod *corev1.Pod) []int {
	status, err := extension.GetResourceStatus(pod.Annotations)
	if err != nil {
		return nil
	}
	cpus, err := status.CPUs()
	if err != nil {
		return nil
	}
	return cpus
}

// CPUsOwnedOnce finds CPUs with two owners. It needs no topology.
func (n *Node) CPUsOwnedOnce() []Violation {
	out := n.found(CPUOwnedOnce)
	owners := map[int][]*corev1.Pod{}
	for _, pod := range n.Pods {
		for _, cpu := range cpusOf(pod) {
			owners[cpu] = append(owners[cpu], pod)
		}
	}
	shared := map[string][]int{}
	for cpu, pods := range owners {
		if len(pods) > 1 {
			shared[holders(pods)] = append(shared[holders(pods)], cpu)
		}
	}
	for pods, cpus := range shared {
		out.add("CPUs %s are owned by %s", extension.FormatCPUList(cpus), pods)
	}
	return out.sorted()
}

// CPUsGivenAway finds CPUs of one pod that the node does not have, or keeps for others.
func (n *Node) CPUsGivenAway(pod *corev1.Pod) []Violation {
	out := n.found(CPUOwnedOnce)
	cpus := cpusOf(pod)
	if len(cpus) == 0 {
		return nil
	}
	layout, err := n.layout()
	if err != nil || layout == nil {
		out.add("%s owns CPUs %s of a node whose topology is not known: %v", nameOf(pod), extension.FormatCPUList(cpus), err)
		return out.list
	}
	kept, err := n.keptCPUs()
	if err != nil {
		out.add("%s owns CPUs %s of a node that cannot say which it keeps: %v", nameOf(pod), extension.FormatCPUList(cpus), err)
		return out.list
	}
	for _, cpu := range cpus {
		if _, exists := layout[cpu]; !exists {
			out.add("%s owns CPU %d, which the node does not have", nameOf(pod), cpu)
		}
		if by := kept[cpu]; by != "" {
			out.add("%s owns CPU %d, which is kept for %s", nameOf(pod), cpu, by)
		}
	}
	return out.sorted()
}

// layout places the CPUs of a node by id, nil when it reports none.
func (n *Node) layout() (map[int]extension.CPUInfo, error) {
	if n.Topology == nil {
		return nil, nil
	}
	topology, err := extension.GetCPUTopology(n.Topology.Annotations)
	if err != nil || topology == nil || len(topology.Detail) == 0 {
		return nil, err
	}
	layout := map[int]extension.CPUInfo{}
	for _, cpu := range topology.Detail {
		layout[int(cpu.ID)] = cpu
	}
	return layout, nil
}

// keptCPUs says for whom a CPU is kept.
func (n *Node) keptCPUs() (map[int]string, error) {
	kept := map[int]string{}
	keep := func(list, by string) error {
		cpus, err := extension.ParseCPUList(list)
		for _, cpu := range cpus {
			kept[cpu] = by
		}
		return err
	}
	kubelet, err := extension.GetKubeletCPUManagerPolicy(n.Topology.Annotations)
	if err == nil && kubelet != nil {
		err = keep(kubelet.ReservedCPUs, "the kubelet")
	}
	if err != nil {
		return nil, err
	}
	pods, err := extension.GetPodCPUAllocs(n.Topology.Annotations)
	if err != nil {
		return nil, err
	}
	for _, pod := range pods {
		if !pod.ManagedByKubelet {
			continue
		}
		if err := keep(pod.CPUSet, "the kubelet's pod "+pod.Namespace+"/"+pod.Name); err != nil {
			return nil, err
		}
	}
	return kept, n.keepAnnotated(keep)
}

// keepAnnotated reads what the node's own annotations keep, which win over their copies on the topology.
func (n *Node) keepAnnotated(keep func(list, by string) error) error {
	annotations := maps.Clone(n.Topology.Annotations)
	if n.Object != nil {
		if annotations == nil {
			annotations = map[string]string{}
		}
		maps.Copy(annotations, n.Object.Annotations)
	}
	reservation, err := extension.GetNodeReservation(annotations)
	if err == nil && reservation != nil {
		err = keep(reservation.ReservedCPUs, "the node's reservation")
	}
	if err != nil {
		return err
	}
	system, err := extension.GetSystemQOSResource(annotations)
	if err == nil && system != nil && system.IsCPUSetExclusive() {
		err = keep(system.CPUSet, "SYSTEM pods")
	}
	return err
}

// cores groups CPUs by their core.
func cores(cpus []int, layout map[int]extension.CPUInfo) map[string][]int {
	groups := map[string][]int{}
	for _, cpu := range cpus {
		info := layout[cpu]
		core := fmt.Sprintf("%d/%d/%d", info.Socket, info.Node, info.Core)
		groups[core] = append(groups[core], cpu)
	}
	return groups
}

// wholeCores reports whether CPUs make up cores of which nothing is left.
func wholeCores(cpus []int, layout map[int]extension.CPUInfo) bool {
	all := cores(slices.Sorted(maps.Keys(layout)), layout)
	for core, taken := range cores(cpus, layout) {
		if len(taken) != len(all[core]) {
			return false
		}
	}
	return true
}
