package report

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
)

// TopologyInput is what a NodeResourceTopology is made of.
type TopologyInput struct {
	// Node that the agent runs on.
	Node TopologyNode
	// Machine as it is built.
	Machine host.Topology
	// Kubelet of the node.
	Kubelet Kubelet
	// Pods that own CPUs, by the scheduler's account, in any order.
	Pods []BoundPod
	// HugePages has zones report them, and less memory.
	HugePages bool
}

// BoundPod owns CPUs of the node.
type BoundPod struct {
	QoS  extension.QoSClass
	CPUs cpuset.CPUSet
}

// Topology is what the node's NodeResourceTopology is to say. Annotations of the node that cannot be understood are left
// out and named in the error, which then comes with a usable object; the object is nil when the machine's CPUs cannot be
// described.
func Topology(in TopologyInput) (*topologyv1alpha1.NodeResourceTopology, error) {
	cpus, err := cpuset.NewTopology(&extension.CPUTopology{Detail: in.Machine.CPUs})
	if err != nil {
		return nil, fmt.Errorf("describe the CPUs of node %q: %w", in.Node.Name, err)
	}
	out := &topologyv1alpha1.NodeResourceTopology{
		ObjectMeta: metav1.ObjectMeta{
			Name:            in.Node.Name,
			Labels:          map[string]string{extension.LabelManagedBy: extension.ManagedByKoordinator},
			OwnerReferences: []metav1.OwnerReference{ownerOf(in.Node)},
		},
		TopologyPolicies: []string{in.Kubelet.topologyPolicy()},
		Zones:            zones(in, cpus),
	}
	if in.Node.NUMAReservation != "" {
		out.Labels[extension.LabelNodeEnableNUMAReservation] = in.Node.NUMAReservation
	}
	kept, problem := in.Node.keptCPUs()
	for _, key := range copiedAnnotations {
		if value := in.Node.Annotations[key]; value != "" && !kept.unreadable[key] {
			metav1.SetMetaDataAnnotation(&out.ObjectMeta, key, value)
		}
	}
	shared, err := poolsOf(in, cpus, kept.cpus)
	if err := errors.Join(err, annotate(out, in, shared)); err != nil {
		return nil, fmt.Errorf("describe the CPUs of node %q: %w", in.Node.Name, err)
	}
	return out, problem
}

// annotate writes down the CPUs. A list of pods that the kubelet bound is only there when there are some.
func annotate(out *topologyv1alpha1.NodeResourceTopology, in TopologyInput, shared pools) error {
	var allocations *[]extension.PodCPUAlloc
	if len(in.Kubelet.Pods) > 0 {
		allocations = &in.Kubelet.Pods
	}
	return errors.Join(
		extension.SetCPUTopology(out, &extension.CPUTopology{Detail: in.Machine.CPUs}),
		extension.SetCPUBasicInfo(out, &in.Machine.Model),
		extension.EncodeAnnotation(out, extension.AnnotationKubeletCPUManagerPolicy, &in.Kubelet.CPUManager),
		extension.EncodeAnnotation(out, extension.AnnotationNodePodCPUAllocs, allocations),
		extension.EncodeAnnotation(out, extension.AnnotationNodeCPUSharedPools, &shared.services),
		extension.EncodeAnnotation(out, extension.AnnotationNodeBECPUSharedPools, &shared.batch),
	)
}

// ownerOf has the garbage collector remove the topology with the node.
func ownerOf(node TopologyNode) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID, Controller: new(true)}
}
