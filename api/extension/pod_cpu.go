package extension

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// AnnotationResourceSpec asks for a way of binding CPUs.
	AnnotationResourceSpec = SchedulingDomainPrefix + "resource-spec"
	// AnnotationResourceStatus is what the scheduler allocated: CPUs and NUMA nodes.
	AnnotationResourceStatus = SchedulingDomainPrefix + "resource-status"
	// AnnotationNUMATopologySpec asks for alignment on NUMA nodes.
	AnnotationNUMATopologySpec = SchedulingDomainPrefix + "numa-topology-spec"
)

// CPUBindPolicy is the way logical CPUs are chosen.
type CPUBindPolicy string

const (
	// CPUBindPolicyDefault leaves the choice to the scheduler's configuration.
	CPUBindPolicyDefault CPUBindPolicy = "Default"
	// CPUBindPolicyFullPCPUs takes whole physical cores.
	CPUBindPolicyFullPCPUs CPUBindPolicy = "FullPCPUs"
	// CPUBindPolicySpreadByPCPUs takes one logical CPU of each physical core.
	CPUBindPolicySpreadByPCPUs CPUBindPolicy = "SpreadByPCPUs"
	// CPUBindPolicyConstrainedBurst bounds the shared pool a burstable pod may run on.
	CPUBindPolicyConstrainedBurst CPUBindPolicy = "ConstrainedBurst"
)

// CPUExclusivePolicy says what a pod does not share with pods of the same policy.
type CPUExclusivePolicy string

const (
	// CPUExclusivePolicyNone shares everything.
	CPUExclusivePolicyNone CPUExclusivePolicy = "None"
	// CPUExclusivePolicyPCPULevel shares no physical core.
	CPUExclusivePolicyPCPULevel CPUExclusivePolicy = "PCPULevel"
	// CPUExclusivePolicyNUMANodeLevel shares no NUMA node.
	CPUExclusivePolicyNUMANodeLevel CPUExclusivePolicy = "NUMANodeLevel"
)

// NUMATopologyPolicy says how strictly resources are aligned on NUMA nodes.
type NUMATopologyPolicy string

const (
	// NUMATopologyPolicyNone does not align.
	NUMATopologyPolicyNone NUMATopologyPolicy = ""
	// NUMATopologyPolicyBestEffort aligns when it can.
	NUMATopologyPolicyBestEffort NUMATopologyPolicy = "BestEffort"
	// NUMATopologyPolicyRestricted refuses nodes where it cannot.
	NUMATopologyPolicyRestricted NUMATopologyPolicy = "Restricted"
	// NUMATopologyPolicySingleNUMANode wants everything from one NUMA node.
	NUMATopologyPolicySingleNUMANode NUMATopologyPolicy = "SingleNUMANode"
)

// ParseNUMATopologyPolicy parses the name of a policy. The empty string is NUMATopologyPolicyNone.
func ParseNUMATopologyPolicy(name string) (NUMATopologyPolicy, error) {
	switch policy := NUMATopologyPolicy(name); policy {
	case NUMATopologyPolicyNone, NUMATopologyPolicyBestEffort, NUMATopologyPolicyRestricted, NUMATopologyPolicySingleNUMANode:
		return policy, nil
	}
	return NUMATopologyPolicyNone, fmt.Errorf("unknown NUMA topology policy %.40q: must be BestEffort, Restricted or SingleNUMANode", name)
}

// NumaTopologyExclusive says whether pods on one NUMA node and pods across NUMA nodes may meet.
type NumaTopologyExclusive string

const (
	// NumaTopologyExclusivePreferred keeps them apart when it can.
	NumaTopologyExclusivePreferred NumaTopologyExclusive = "Preferred"
	// NumaTopologyExclusiveRequired keeps them apart.
	NumaTopologyExclusiveRequired NumaTopologyExclusive = "Required"
)

// ResourceSpec asks for a way of binding CPUs.
type ResourceSpec struct {
	// RequiredCPUBindPolicy must be met, or the pod stays pending.
	RequiredCPUBindPolicy CPUBindPolicy `json:"requiredCPUBindPolicy,omitempty"`
	// PreferredCPUBindPolicy is met when possible.
	PreferredCPUBindPolicy CPUBindPolicy `json:"preferredCPUBindPolicy,omitempty"`
	// PreferredCPUExclusivePolicy is met when possible.
	PreferredCPUExclusivePolicy CPUExclusivePolicy `json:"preferredCPUExclusivePolicy,omitempty"`
}

// ResourceStatus is what the scheduler allocated.
type ResourceStatus struct {
	// CPUSet is a Linux CPU list, see ParseCPUList.
	CPUSet string `json:"cpuset,omitempty"`
	// NUMANodeResources are the shares of the NUMA nodes.
	NUMANodeResources []NUMANodeResource `json:"numaNodeResources,omitempty"`
}

// NUMANodeResource is what was taken from one NUMA node.
type NUMANodeResource struct {
	Node      int32               `json:"node"`
	Resources corev1.ResourceList `json:"resources,omitempty"`
}

// NUMATopologySpec asks for alignment on NUMA nodes.
type NUMATopologySpec struct {
	NUMATopologyPolicy      NUMATopologyPolicy    `json:"numaTopologyPolicy,omitempty"`
	SingleNUMANodeExclusive NumaTopologyExclusive `json:"singleNUMANodeExclusive,omitempty"`
}

// GetResourceSpec decodes AnnotationResourceSpec.
func GetResourceSpec(annotations map[string]string) (*ResourceSpec, error) {
	return DecodeAnnotation[ResourceSpec](annotations, AnnotationResourceSpec)
}

// SetResourceSpec writes AnnotationResourceSpec.
func SetResourceSpec(obj metav1.Object, spec *ResourceSpec) error {
	return EncodeAnnotation(obj, AnnotationResourceSpec, spec)
}

// GetResourceStatus decodes AnnotationResourceStatus.
func GetResourceStatus(annotations map[string]string) (*ResourceStatus, error) {
	return DecodeAnnotation[ResourceStatus](annotations, AnnotationResourceStatus)
}

// SetResourceStatus writes AnnotationResourceStatus.
func SetResourceStatus(obj metav1.Object, status *ResourceStatus) error {
	return EncodeAnnotation(obj, AnnotationResourceStatus, status)
}

// CPUs returns the CPUs of the allocation, sorted; none when the pod is not bound to CPUs.
func (s *ResourceStatus) CPUs() ([]int, error) {
	if s == nil {
		return nil, nil
	}
	return ParseCPUList(s.CPUSet)
}

// GetNUMATopologySpec decodes AnnotationNUMATopologySpec.
func GetNUMATopologySpec(annotations map[string]string) (*NUMATopologySpec, error) {
	return DecodeAnnotation[NUMATopologySpec](annotations, AnnotationNUMATopologySpec)
}

// SetNUMATopologySpec writes AnnotationNUMATopologySpec.
func SetNUMATopologySpec(obj metav1.Object, spec *NUMATopologySpec) error {
	return EncodeAnnotation(obj, AnnotationNUMATopologySpec, spec)
}
