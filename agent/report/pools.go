package report

import (
	"fmt"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
)

// pools are the CPUs that pods without exclusive CPUs share, by NUMA node.
type pools struct {
	// services is for LS pods, batch for BE pods.
	services, batch []extension.CPUSharedPool
}

// poolsOf takes the CPUs that a pod owns from the pools: those that an annotation of the node keeps and those that the
// kubelet gave away from both. CPUs of the scheduler's pods are taken from services; from batch only when their owner is
// LSE, because LSR pods lend theirs to batch. CPUs that the kubelet reserves for the system stay in: pods that it did not
// bind run there too.
func poolsOf(in TopologyInput, cpus *cpuset.Topology, kept cpuset.CPUSet) (pools, error) {
	batch := cpus.CPUs.Difference(kept)
	for _, pod := range in.Kubelet.Pods {
		owned, err := cpuset.Parse(pod.CPUSet)
		if err != nil {
			return pools{}, fmt.Errorf("pod %s/%s of the kubelet: %w", pod.Namespace, pod.Name, err)
		}
		batch = batch.Difference(owned)
	}
	services := batch
	for _, pod := range in.Pods {
		services = services.Difference(pod.CPUs)
		if pod.QoS == extension.QoSLSE {
			batch = batch.Difference(pod.CPUs)
		}
	}
	sockets := socketsOf(in.Machine.CPUs)
	return pools{services: byNUMANode(cpus, services, sockets), batch: byNUMANode(cpus, batch, sockets)}, nil
}

// byNUMANode divides CPUs; NUMA nodes without any are left out.
func byNUMANode(cpus *cpuset.Topology, shared cpuset.CPUSet, sockets map[int32]int32) []extension.CPUSharedPool {
	out := []extension.CPUSharedPool{}
	for _, node := range cpus.Nodes {
		if pool := shared.Intersection(node.CPUs); !pool.IsEmpty() {
			id := int32(node.ID)
			out = append(out, extension.CPUSharedPool{Socket: sockets[id], Node: id, CPUSet: pool.String()})
		}
	}
	return out
}

// socketsOf says on which socket each NUMA node lies: that of its first CPU.
func socketsOf(cpus []extension.CPUInfo) map[int32]int32 {
	sockets := map[int32]int32{}
	for _, cpu := range cpus {
		if _, known := sockets[cpu.Node]; !known {
			sockets[cpu.Node] = cpu.Socket
		}
	}
	return sockets
}
