package suppression

import (
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
)

// Exclusions are the CPUs of a node that are never lent: those of LSE pods, and those that annotations of the Node keep for processes
// outside of Kubernetes or for SYSTEM pods alone, or that the kubelet bound to pods by those of the NodeResourceTopology. An annotation
// that cannot be read keeps nothing.
func Exclusions(node, topology map[string]string, lse cpuset.CPUSet) []Exclusion {
	var out []Exclusion
	exclude := func(owner string, cpus cpuset.CPUSet) {
		if !cpus.IsEmpty() {
			out = append(out, Exclusion{Owner: owner, CPUs: cpus})
		}
	}
	exclude("LSE pods", lse)
	if reservation, err := extension.GetNodeReservation(node); err == nil && reservation != nil {
		exclude("node reservation", listed(reservation.ReservedCPUs))
	}
	if system, err := extension.GetSystemQOSResource(node); err == nil && system != nil && system.IsCPUSetExclusive() {
		exclude("SYSTEM pods", listed(system.CPUSet))
	}
	if bound, err := extension.GetPodCPUAllocs(topology); err == nil {
		var cpus cpuset.CPUSet
		for i := range bound {
			if bound[i].ManagedByKubelet {
				cpus = cpus.Union(listed(bound[i].CPUSet))
			}
		}
		exclude("pods of the kubelet", cpus)
	}
	return out
}

// listed are the CPUs of a list; none of one that cannot be read.
func listed(list string) cpuset.CPUSet {
	cpus, err := cpuset.Parse(list)
	if err != nil {
		return cpuset.CPUSet{}
	}
	return cpus
}
