package extension

import (
	corev1 "k8s.io/api/core/v1"
)

// Resources offered from what others leave unused.
const (
	// BatchCPU is counted in milli-cores: the integer 1000 is one core.
	BatchCPU corev1.ResourceName = ResourceDomainPrefix + "batch-cpu"
	// BatchMemory is counted in bytes.
	BatchMemory corev1.ResourceName = ResourceDomainPrefix + "batch-memory"
	// MidCPU is counted in milli-cores: the integer 1000 is one core.
	MidCPU corev1.ResourceName = ResourceDomainPrefix + "mid-cpu"
	// MidMemory is counted in bytes.
	MidMemory corev1.ResourceName = ResourceDomainPrefix + "mid-memory"
)

// TranslateResourceName returns the name under which pods of a class request a plain resource: batch-cpu for cpu of
// batch pods. Resources that have no form in the class keep their name.
func TranslateResourceName(class PriorityClass, name corev1.ResourceName) corev1.ResourceName {
	switch {
	case class == PriorityBatch && name == corev1.ResourceCPU:
		return BatchCPU
	case class == PriorityBatch && name == corev1.ResourceMemory:
		return BatchMemory
	case class == PriorityMid && name == corev1.ResourceCPU:
		return MidCPU
	case class == PriorityMid && name == corev1.ResourceMemory:
		return MidMemory
	}
	return name
}

// PlainResourceName undoes TranslateResourceName: cpu and koord-batch for batch-cpu. The class is PriorityNone for
// names that belong to no tier.
func PlainResourceName(name corev1.ResourceName) (corev1.ResourceName, PriorityClass) {
	switch name {
	case BatchCPU:
		return corev1.ResourceCPU, PriorityBatch
	case BatchMemory:
		return corev1.ResourceMemory, PriorityBatch
	case MidCPU:
		return corev1.ResourceCPU, PriorityMid
	case MidMemory:
		return corev1.ResourceMemory, PriorityMid
	}
	return name, PriorityNone
}

// CanonicalResourceName replaces the names older versions used, such as koordinator.sh/batch-cpu or
// kubernetes.io/gpu-core, with today's.
func CanonicalResourceName(name corev1.ResourceName) corev1.ResourceName {
	switch name {
	case DomainPrefix + "batch-cpu":
		return BatchCPU
	case DomainPrefix + "batch-memory":
		return BatchMemory
	case ResourceDomainPrefix + "gpu":
		return ResourceGPU
	case ResourceDomainPrefix + "gpu-core":
		return ResourceGPUCore
	case ResourceDomainPrefix + "gpu-memory":
		return ResourceGPUMemory
	case ResourceDomainPrefix + "gpu-memory-ratio":
		return ResourceGPUMemoryRatio
	case ResourceDomainPrefix + "rdma":
		return ResourceRDMA
	case ResourceDomainPrefix + "fpga":
		return ResourceFPGA
	}
	return name
}
