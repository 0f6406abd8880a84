package extension

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Resources of accelerators.
const (
	// ResourceGPU is percent of a GPU: 100 is one.
	ResourceGPU corev1.ResourceName = DomainPrefix + "gpu"
	// ResourceGPUShared is the number of GPUs a share is taken from.
	ResourceGPUShared corev1.ResourceName = DomainPrefix + "gpu.shared"
	// ResourceGPUCore is percent of a GPU's compute.
	ResourceGPUCore corev1.ResourceName = DomainPrefix + "gpu-core"
	// ResourceGPUMemory is bytes of GPU memory.
	ResourceGPUMemory corev1.ResourceName = DomainPrefix + "gpu-memory"
	// ResourceGPUMemoryRatio is percent of a GPU's memory.
	ResourceGPUMemoryRatio corev1.ResourceName = DomainPrefix + "gpu-memory-ratio"
	// ResourceRDMA is percent of a network card: 100 is one.
	ResourceRDMA corev1.ResourceName = DomainPrefix + "rdma"
	// ResourceFPGA is percent of an FPGA.
	ResourceFPGA corev1.ResourceName = DomainPrefix + "fpga"

	// Names of the vendors' own device plugins.
	ResourceNvidiaGPU     corev1.ResourceName = "nvidia.com/gpu"
	ResourceAMDGPU        corev1.ResourceName = "amd.com/gpu"
	ResourceHygonDCU      corev1.ResourceName = "dcu.com/gpu"
	ResourceHuaweiNPUCore corev1.ResourceName = "huawei.com/npu-core"
	ResourceHuaweiNPUCPU  corev1.ResourceName = "huawei.com/npu-cpu"
	ResourceHuaweiNPUDVPP corev1.ResourceName = "huawei.com/npu-dvpp"
)

// Keys of GPUs.
const (
	// AnnotationGPUPartitionSpec asks for linked GPUs.
	AnnotationGPUPartitionSpec = SchedulingDomainPrefix + "gpu-partition-spec"
	// AnnotationGPUPartitions are the partitions of a node, on its Device.
	AnnotationGPUPartitions = SchedulingDomainPrefix + "gpu-partitions"
	// AnnotationGPUMinors are the minors allocated, for device plugins.
	AnnotationGPUMinors = SchedulingDomainPrefix + "gpu-minors"

	// LabelGPUIsolationProvider names what isolates shares of a GPU.
	LabelGPUIsolationProvider = DomainPrefix + "gpu-isolation-provider"
	// LabelHAMIVGPUNode names the node for the HAMi device plugin.
	LabelHAMIVGPUNode = "hami.io/vgpu-node"
	// GPUIsolationProviderHAMICore is a value of LabelGPUIsolationProvider.
	GPUIsolationProviderHAMICore = "HAMi-core"

	// Labels of nodes and Devices.
	LabelGPUPartitionPolicy = NodeDomainPrefix + "gpu-partition-policy"
	LabelGPUVendor          = NodeDomainPrefix + "gpu-vendor"
	LabelGPUModel           = NodeDomainPrefix + "gpu-model"
	LabelGPUDriverVersion   = NodeDomainPrefix + "gpu-driver-version"
	// LabelSecondaryDeviceWellPlanned declares that GPUs and network cards of a node pair well, for the scheduler of upstream. No component reads it yet.
	LabelSecondaryDeviceWellPlanned = NodeDomainPrefix + "secondary-device-well-planned"
	// LabelGPUDriver and the deprecated labels are written next to LabelGPUModel and LabelGPUDriverVersion.
	LabelGPUDriver           = NodeDomainPrefix + "gpu-driver"
	DeprecatedLabelGPUModel  = ResourceDomainPrefix + "gpu-model"
	DeprecatedLabelGPUDriver = ResourceDomainPrefix + "gpu-driver"
)

// GPUPartitionSpec asks for linked GPUs.
type GPUPartitionSpec struct {
	// AllocatePolicy is BestEffort when empty.
	AllocatePolicy GPUPartitionAllocatePolicy `json:"allocatePolicy,omitempty"`
	// RingBusBandwidth the partition must have at least.
	RingBusBandwidth *resource.Quantity `json:"ringBusBandwidth,omitempty"`
}

// GPUPartitionAllocatePolicy says which partitions are acceptable.
type GPUPartitionAllocatePolicy string

const (
	// GPUPartitionAllocatePolicyRestricted accepts the best partitions only.
	GPUPartitionAllocatePolicyRestricted GPUPartitionAllocatePolicy = "Restricted"
	// GPUPartitionAllocatePolicyBestEffort prefers the best partitions.
	GPUPartitionAllocatePolicyBestEffort GPUPartitionAllocatePolicy = "BestEffort"
)

// GPULinkType is how the GPUs of a partition are linked.
type GPULinkType string

// GPULinkNVLink is NVIDIA's link.
const GPULinkNVLink GPULinkType = "NVLink"

// GPUPartition is a set of GPUs that can be allocated together.
type GPUPartition struct {
	Minors           []int              `json:"minors"`
	GPULinkType      GPULinkType        `json:"gpuLinkType,omitempty"`
	RingBusBandwidth *resource.Quantity `json:"ringBusBandwidth,omitempty"`
	// AllocationScore is higher for partitions that leave better ones intact.
	AllocationScore int `json:"allocationScore,omitempty"`
}

// GPUPartitionTable lists the partitions of a node by the number of their GPUs.
type GPUPartitionTable map[int][]GPUPartition

// GPUPartitionPolicy is the value of LabelGPUPartitionPolicy.
type GPUPartitionPolicy string

const (
	// GPUPartitionPolicyHonor allocates listed partitions only.
	GPUPartitionPolicyHonor GPUPartitionPolicy = "Honor"
	// GPUPartitionPolicyPrefer prefers listed partitions; the default.
	GPUPartitionPolicyPrefer GPUPartitionPolicy = "Prefer"
)

// GetGPUPartitionSpec decodes AnnotationGPUPartitionSpec; an empty policy becomes BestEffort.
func GetGPUPartitionSpec(annotations map[string]string) (*GPUPartitionSpec, error) {
	spec, err := DecodeAnnotation[GPUPartitionSpec](annotations, AnnotationGPUPartitionSpec)
	if spec == nil || err != nil {
		return nil, err
	}
	if spec.AllocatePolicy == "" {
		spec.AllocatePolicy = GPUPartitionAllocatePolicyBestEffort
	}
	return spec, nil
}

// SetGPUPartitionSpec writes AnnotationGPUPartitionSpec.
func SetGPUPartitionSpec(obj metav1.Object, spec *GPUPartitionSpec) error {
	return EncodeAnnotation(obj, AnnotationGPUPartitionSpec, spec)
}

// GetGPUPartitionTable decodes AnnotationGPUPartitions of a Device.
func GetGPUPartitionTable(annotations map[string]string) (GPUPartitionTable, error) {
	return decodeOr[GPUPartitionTable](annotations, AnnotationGPUPartitions)
}

// SetGPUPartitionTable writes AnnotationGPUPartitions; nil removes it.
func SetGPUPartitionTable(obj metav1.Object, table GPUPartitionTable) error {
	if table == nil {
		removeAnnotation(obj, AnnotationGPUPartitions)
		return nil
	}
	return EncodeAnnotation(obj, AnnotationGPUPartitions, &table)
}

// GPUPartitionPolicyOf returns the policy of a node or Device, Prefer unless its label says Honor.
func GPUPartitionPolicyOf(labels map[string]string) GPUPartitionPolicy {
	if GPUPartitionPolicy(labels[LabelGPUPartitionPolicy]) == GPUPartitionPolicyHonor {
		return GPUPartitionPolicyHonor
	}
	return GPUPartitionPolicyPrefer
}
