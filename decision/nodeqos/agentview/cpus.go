package agentview

import (
	"cmp"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/nodeqos/cpupool"
)

// Names of pools.
const (
	PoolShared     = "shared"
	PoolBestEffort = "bestEffort"
	PoolSuppressed = "suppressed"
)

// CPUs lists the pools of the node and which pods own which CPUs. Suppressed is the list of CPUs that best-effort pods are held to, and
// empty where they are not. The answer is nil, with a reason, when the node's CPUs are not known.
func (n *Node) CPUs(suppressed string) (out *diagnosticsv1alpha1.CPUExplanation, missing string) {
	if why := n.Unknown.Because(unknown.Topologies); why != "" {
		return nil, "the CPUs of the node are unknown: " + why
	}
	topology := n.cpus()
	if topology == nil {
		return nil, "the CPUs of the node are unknown: its NodeResourceTopology does not list them"
	}
	out = &diagnosticsv1alpha1.CPUExplanation{All: topology.CPUs.String(), Zones: zones(topology)}
	out.Pools = append(pools(PoolShared, n.annotations(), extension.GetCPUSharedPools), pools(PoolBestEffort, n.annotations(), extension.GetBECPUSharedPools)...)
	if cpus, err := cpuset.Parse(suppressed); err == nil && !cpus.IsEmpty() {
		out.Pools = append(out.Pools, diagnosticsv1alpha1.CPUPool{Name: PoolSuppressed, CPUs: cpus.String(), Count: int32(cpus.Len())})
	}
	out.Owners, out.OwnersUnknown = n.owners(), n.Unknown.Because(unknown.Pods)
	return out, ""
}

// zones are the NUMA nodes, those that span sockets once for each socket, with their cores in the order of their first CPUs.
func zones(topology *cpuset.Topology) []diagnosticsv1alpha1.CPUZone {
	var out []diagnosticsv1alpha1.CPUZone
	for _, socket := range topology.Sockets {
		for _, node := range topology.Nodes {
			zone := diagnosticsv1alpha1.CPUZone{Socket: int32(socket.ID), NUMANode: int32(node.ID)}
			cpus := socket.CPUs.Intersection(node.CPUs)
			for _, core := range topology.Cores {
				if core := core.CPUs.Intersection(cpus); !core.IsEmpty() {
					zone.Cores = append(zone.Cores, core.String())
				}
			}
			if len(zone.Cores) > 0 {
				out = append(out, zone)
			}
		}
	}
	return out
}

func pools(name string, annotations map[string]string, get func(map[string]string) ([]extension.CPUSharedPool, error)) []diagnosticsv1alpha1.CPUPool {
	found, err := get(annotations)
	if err != nil {
		return nil
	}
	var out []diagnosticsv1alpha1.CPUPool
	for _, pool := range found {
		cpus, err := cpuset.Parse(pool.CPUSet)
		if err != nil {
			continue
		}
		node := pool.Node
		out = append(out, diagnosticsv1alpha1.CPUPool{Name: name, NUMANode: &node, CPUs: cpus.String(), Count: int32(cpus.Len())})
	}
	return out
}

// owners are the pods that the scheduler or the kubelet gave CPUs, the node's reservation, and exclusive system CPUs.
func (n *Node) owners() []diagnosticsv1alpha1.CPUOwner {
	var out []diagnosticsv1alpha1.CPUOwner
	add := func(owner diagnosticsv1alpha1.CPUOwner, cpus cpuset.CPUSet) {
		if cpus.IsEmpty() {
			return
		}
		owner.CPUs, owner.Count = cpus.String(), int32(cpus.Len())
		out = append(out, owner)
	}
	for i, owner := range cpupool.Owners(n.Pods) {
		pod := n.Pods[i]
		class := classOf(pod)
		add(diagnosticsv1alpha1.CPUOwner{Namespace: pod.Namespace, Name: pod.Name, QoSClass: string(class), Lent: class == extension.QoSLSR}, owner.CPUs)
	}
	if bound, err := extension.GetPodCPUAllocs(n.annotations()); err == nil {
		for _, allocation := range bound {
			cpus, err := cpuset.Parse(allocation.CPUSet)
			if err == nil {
				add(diagnosticsv1alpha1.CPUOwner{Namespace: allocation.Namespace, Name: allocation.Name + " (bound by kubelet)"}, cpus)
			}
		}
	}
	if reservation, err := extension.GetNodeReservation(n.Object.Annotations); err == nil && reservation != nil {
		if cpus, err := cpuset.Parse(reservation.ReservedCPUs); err == nil {
			add(diagnosticsv1alpha1.CPUOwner{Name: "node reservation"}, cpus)
		}
	}
	if system, err := extension.GetSystemQOSResource(n.Object.Annotations); err == nil && system != nil {
		if cpus, err := cpuset.Parse(system.CPUSet); err == nil {
			add(diagnosticsv1alpha1.CPUOwner{Name: "SYSTEM pods", QoSClass: string(extension.QoSSystem), Lent: !system.IsCPUSetExclusive()}, cpus)
		}
	}
	slices.SortStableFunc(out, func(a, b diagnosticsv1alpha1.CPUOwner) int {
		return cmp.Or(cmp.Compare(first(a.CPUs), first(b.CPUs)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// first CPU of a list.
func first(list string) int {
	cpus, err := cpuset.Parse(list)
	if err != nil {
		return 0
	}
	for cpu := range cpus.All() {
		return cpu
	}
	return 0
}
