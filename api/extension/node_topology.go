package extension

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Labels of nodes that steer CPU binding and NUMA alignment.
const (
	LabelNodeCPUBindPolicy         = NodeDomainPrefix + "cpu-bind-policy"
	LabelNodeNUMAAllocateStrategy  = NodeDomainPrefix + "numa-allocate-strategy"
	LabelNodeNUMATopologyPolicy    = NodeDomainPrefix + "numa-topology-policy"
	LabelNodeEnableNUMAReservation = NodeDomainPrefix + "enable-numa-reservation"
)

// Annotations of NodeResourceTopology objects.
const (
	AnnotationNodeCPUTopology         = NodeDomainPrefix + "cpu-topology"
	AnnotationNodePodCPUAllocs        = NodeDomainPrefix + "pod-cpu-allocs"
	AnnotationNodeCPUSharedPools      = NodeDomainPrefix + "cpu-shared-pools"
	AnnotationNodeBECPUSharedPools    = NodeDomainPrefix + "be-cpu-shared-pools"
	AnnotationKubeletCPUManagerPolicy = KubeletDomainPrefix + "cpu-manager-policy"
)

// NodeCPUBindPolicy is what a node demands of CPU binding.
type NodeCPUBindPolicy string

const (
	// NodeCPUBindPolicyNone demands nothing.
	NodeCPUBindPolicyNone NodeCPUBindPolicy = "None"
	// NodeCPUBindPolicyFullPCPUsOnly demands whole physical cores.
	NodeCPUBindPolicyFullPCPUsOnly NodeCPUBindPolicy = "FullPCPUsOnly"
	// NodeCPUBindPolicySpreadByPCPUs demands one logical CPU of each physical core.
	NodeCPUBindPolicySpreadByPCPUs NodeCPUBindPolicy = "SpreadByPCPUs"
)

// NUMAAllocateStrategy is the order in which NUMA nodes are filled.
type NUMAAllocateStrategy string

const (
	// NUMAMostAllocated fills the fullest first.
	NUMAMostAllocated NUMAAllocateStrategy = "MostAllocated"
	// NUMALeastAllocated fills the emptiest first.
	NUMALeastAllocated NUMAAllocateStrategy = "LeastAllocated"
	// NUMADistributeEvenly fills all alike.
	NUMADistributeEvenly NUMAAllocateStrategy = "DistributeEvenly"
)

// Values of KubeletCPUManagerPolicy.
const (
	KubeletCPUManagerPolicyStatic                         = "static"
	KubeletCPUManagerPolicyNone                           = "none"
	KubeletCPUManagerPolicyFullPCPUsOnlyOption            = "full-pcpus-only"
	KubeletCPUManagerPolicyDistributeCPUsAcrossNUMAOption = "distribute-cpus-across-numa"
)

// CPUTopology lists the logical CPUs of a node.
type CPUTopology struct {
	Detail []CPUInfo `json:"detail,omitempty"`
}

// CPUInfo places one logical CPU.
type CPUInfo struct {
	ID     int32 `json:"id"`
	Core   int32 `json:"core"`
	Socket int32 `json:"socket"`
	Node   int32 `json:"node"`
}

// PodCPUAlloc is a pod bound to CPUs outside of the scheduler.
type PodCPUAlloc struct {
	Namespace        string    `json:"namespace,omitempty"`
	Name             string    `json:"name,omitempty"`
	UID              types.UID `json:"uid,omitempty"`
	CPUSet           string    `json:"cpuset,omitempty"`
	ManagedByKubelet bool      `json:"managedByKubelet,omitempty"`
}

// CPUSharedPool is the CPUs of one NUMA node that unbound pods share.
type CPUSharedPool struct {
	Socket int32  `json:"socket"`
	Node   int32  `json:"node"`
	CPUSet string `json:"cpuset,omitempty"`
}

// KubeletCPUManagerPolicy is the CPU manager configuration of a node's kubelet.
type KubeletCPUManagerPolicy struct {
	Policy       string            `json:"policy,omitempty"`
	Options      map[string]string `json:"options,omitempty"`
	ReservedCPUs string            `json:"reservedCPUs,omitempty"`
}

// GetCPUTopology decodes AnnotationNodeCPUTopology.
func GetCPUTopology(annotations map[string]string) (*CPUTopology, error) {
	return DecodeAnnotation[CPUTopology](annotations, AnnotationNodeCPUTopology)
}

// SetCPUTopology writes AnnotationNodeCPUTopology.
func SetCPUTopology(obj metav1.Object, topology *CPUTopology) error {
	return EncodeAnnotation(obj, AnnotationNodeCPUTopology, topology)
}

// GetPodCPUAllocs decodes AnnotationNodePodCPUAllocs.
func GetPodCPUAllocs(annotations map[string]string) ([]PodCPUAlloc, error) {
	return decodeOr[[]PodCPUAlloc](annotations, AnnotationNodePodCPUAllocs)
}

// GetCPUSharedPools decodes AnnotationNodeCPUSharedPools: the pools of LS pods.
func GetCPUSharedPools(annotations map[string]string) ([]CPUSharedPool, error) {
	return decodeOr[[]CPUSharedPool](annotations, AnnotationNodeCPUSharedPools)
}

// GetBECPUSharedPools decodes AnnotationNodeBECPUSharedPools: the pools of BE pods.
func GetBECPUSharedPools(annotations map[string]string) ([]CPUSharedPool, error) {
	return decodeOr[[]CPUSharedPool](annotations, AnnotationNodeBECPUSharedPools)
}

// GetKubeletCPUManagerPolicy decodes AnnotationKubeletCPUManagerPolicy.
func GetKubeletCPUManagerPolicy(annotations map[string]string) (*KubeletCPUManagerPolicy, error) {
	return DecodeAnnotation[KubeletCPUManagerPolicy](annotations, AnnotationKubeletCPUManagerPolicy)
}

// NodeCPUBindPolicyOf returns what a node demands: its label, or full cores when its kubelet demands them.
func NodeCPUBindPolicyOf(labels map[string]string, kubelet *KubeletCPUManagerPolicy) NodeCPUBindPolicy {
	policy := NodeCPUBindPolicy(labels[LabelNodeCPUBindPolicy])
	kubeletFullPCPUs := kubelet != nil && kubelet.Policy == KubeletCPUManagerPolicyStatic &&
		kubelet.Options[KubeletCPUManagerPolicyFullPCPUsOnlyOption] == "true"
	switch {
	case policy == NodeCPUBindPolicyFullPCPUsOnly || kubeletFullPCPUs:
		return NodeCPUBindPolicyFullPCPUsOnly
	case policy == NodeCPUBindPolicySpreadByPCPUs:
		return policy
	}
	return NodeCPUBindPolicyNone
}
