package eviction

import (
	"time"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Feature of the node agent that evicts, by the name of its feature gate and in the annotation eviction-policy.
type Feature string

// Features, in the order in which they decide: a pod that one evicts counts as released for those after it.
const (
	BECPUEvict             Feature = "BECPUEvict"
	CPUAllocatableEvict    Feature = "CPUAllocatableEvict"
	CPUEvict               Feature = "CPUEvict"
	BEMemoryEvict          Feature = "BEMemoryEvict"
	MemoryAllocatableEvict Feature = "MemoryAllocatableEvict"
	MemoryEvict            Feature = "MemoryEvict"
)

// SoftEvict evicts pods that an annotation requests to be evicted, whether the node is short of anything or not. It is no feature of this
// decision, and is named here because its evictions are carried out, counted and allowed by annotation in the same way.
const SoftEvict Feature = "SoftEvict"

// Features lists all of them in the order in which they decide.
func Features() []Feature {
	return []Feature{BECPUEvict, CPUAllocatableEvict, CPUEvict, BEMemoryEvict, MemoryAllocatableEvict, MemoryEvict}
}

// ReasonPrefix begins the reason of the events that evictions leave; the name of the feature follows.
const ReasonPrefix = "trigger by koordlet feature "

// Cool-downs after an eviction, by default.
const (
	CPUCooldown    = 20 * time.Second
	MemoryCooldown = 4 * time.Second
)

// Resource that a feature releases.
type Resource string

// Resources that are released: CPU in milli-cores, memory in bytes.
const (
	CPU    Resource = "cpu"
	Memory Resource = "memory"
)

// Resource that the feature releases.
func (f Feature) Resource() Resource {
	switch f {
	case BECPUEvict, CPUAllocatableEvict, CPUEvict:
		return CPU
	}
	return Memory
}

// BestEffort says whether the feature takes best-effort pods only, and those without asking whether they agree.
func (f Feature) BestEffort() bool { return f == BECPUEvict || f == BEMemoryEvict }

// unit of the amounts that the resource is released in.
func (r Resource) unit() diagnosticsv1alpha1.Unit {
	if r == CPU {
		return diagnosticsv1alpha1.MilliCPU
	}
	return diagnosticsv1alpha1.Bytes
}

// of takes the resource out of an amount: milli-cores or bytes.
func (r Resource) of(amount podrequest.Amount) int64 {
	if r == CPU {
		return amount.MilliCPU
	}
	return amount.Memory
}
