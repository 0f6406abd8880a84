package nodefeature

import "sync"

// All lists the features of the agent, kind by kind. Those that set values come in the order in which they rank: suppression has the
// CPUs of best-effort pods; CPUs that the scheduler gave to a pod go before what its limits say, and a burst goes before the quota of
// a limit. Those that evict come in the order in which they decide. The result must not be changed.
var All = sync.OnceValue(func() []Spec {
	return []Spec{
		BECPUSuppress,
		CPUSetAllocator,
		CoreSched,
		GroupIdentity,
		BatchResource,
		CPUBurst,
		CPUNormalization,
		CgroupReconcile,
		BlkIOReconcile,
		SystemConfig,
		TCNetworkQoS,
		OOMScoreAdj,

		BECPUEvict,
		CPUAllocatableEvict,
		CPUEvict,
		BEMemoryEvict,
		MemoryAllocatableEvict,
		MemoryEvict,

		TerwayQoS,
		RdtResctrl,
		Resctrl,
		ResctrlCollector,
		CPICollector,
		PSICollector,
		GPUEnvInject,
		RDMADeviceInject,
		HugePageReport,
		OOMKillReport,
		SoftEvict,
		Accelerators,
		RDMADevices,
	}
})

// OfKind lists the features of a kind. The result must not be changed.
func OfKind(kind Kind) []Spec { return byKind()[kind] }

var byKind = sync.OnceValue(func() map[Kind][]Spec {
	out := map[Kind][]Spec{}
	for _, spec := range All() {
		out[spec.Kind] = append(out[spec.Kind], spec)
	}
	return out
})
