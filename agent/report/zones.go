package report

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/agent/host"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Zones of NUMA nodes have this type, and are called by this prefix and their id.
const (
	zoneType   = "Node"
	zonePrefix = "node-"
)

// zones are the NUMA nodes with all that they have. What the kubelet keeps for itself comes from no zone in particular;
// when the node asks for it, every zone gives up an equal share, rounded up. Available is what is allocatable: what pods
// took stands in their annotations, where the scheduler reads it sooner than an agent could report it.
func zones(in TopologyInput, cpus *cpuset.Topology) topologyv1alpha1.ZoneList {
	var share podrequest.Amount
	if count := int64(len(in.Machine.NUMANodes)); in.Node.NUMAReservation == "true" && count > 0 {
		share = podrequest.Amount{MilliCPU: divideUp(in.Node.Kept.MilliCPU, count), Memory: divideUp(in.Node.Kept.Memory, count)}
	}
	list := make(topologyv1alpha1.ZoneList, 0, len(in.Machine.NUMANodes))
	for _, node := range in.Machine.NUMANodes {
		milli := int64(cpus.Node(int(node.ID)).Len()) * 1000
		memory := node.Memory
		var pages topologyv1alpha1.ResourceInfoList
		if in.HugePages {
			pages, memory = hugePages(node)
		}
		list = append(list, topologyv1alpha1.Zone{
			Name: fmt.Sprint(zonePrefix, node.ID), Type: zoneType,
			Resources: append(topologyv1alpha1.ResourceInfoList{
				resourceOf(corev1.ResourceCPU, *resource.NewMilliQuantity(milli, resource.DecimalSI), *resource.NewMilliQuantity(max(milli-share.MilliCPU, 0), resource.DecimalSI)),
				resourceOf(corev1.ResourceMemory, *resource.NewQuantity(memory, resource.BinarySI), *resource.NewQuantity(max(memory-share.Memory, 0), resource.BinarySI)),
			}, pages...),
		})
	}
	return list
}

// hugePages of a node, each size a resource, and the memory that is left without them.
func hugePages(node host.NUMANode) (pages topologyv1alpha1.ResourceInfoList, rest int64) {
	rest = node.Memory
	for _, of := range node.HugePages {
		size := resource.NewQuantity(of.Size, resource.BinarySI)
		bytes := *resource.NewQuantity(of.Size*of.Count, resource.BinarySI)
		pages = append(pages, resourceOf(corev1.ResourceName(corev1.ResourceHugePagesPrefix+size.String()), bytes, bytes))
		rest = max(rest-of.Size*of.Count, 0)
	}
	return pages, rest
}

func resourceOf(name corev1.ResourceName, capacity, allocatable resource.Quantity) topologyv1alpha1.ResourceInfo {
	return topologyv1alpha1.ResourceInfo{Name: string(name), Capacity: capacity, Allocatable: allocatable, Available: allocatable}
}

// divideUp is a/b, rounded up, for a of 0 and more.
func divideUp(a, b int64) int64 { return a/b + min(a%b, 1) }
