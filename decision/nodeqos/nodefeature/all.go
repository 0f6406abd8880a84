package nodefeature

// All lists the features of the agent, kind by kind. Those that set values come in the order in which they rank: suppression has the
// CPUs of best-effort pods; CPUs that the scheduler gave to a pod go before what its limits say, and a burst goes before the quota of
// a limit. Those that evict come in the order in which they decide.
func All() []Spec {
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
		Accelerators,
		RDMADevices,
	}
}

// OfKind lists the features of a kind.
func OfKind(kind Kind) []Spec {
	var out []Spec
	for _, spec := range All() {
		if spec.Kind == kind {
			out = append(out, spec)
		}
	}
	return out
}
