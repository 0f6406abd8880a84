package koordlet

// Gates of what is reported. All of them are off by default.
const (
	// hugePageReport has NUMA zones report huge pages.
	hugePageReport = "HugePageReport"
	// accelerators reports GPUs and what other daemons found, rdmaDevices network cards with remote direct memory access.
	accelerators = "Accelerators"
	rdmaDevices  = "RDMADevices"
)

// reportGates lists them.
func reportGates() []string { return []string{hugePageReport, accelerators, rdmaDevices} }
