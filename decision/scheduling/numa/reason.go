package numa

// Reasons of refusals, as they stand in events. Those that end in a verb's place are followed by what they are about.
const (
	ReasonNotInteger        = "the requested CPUs must be integer"
	ReasonInvalidTopology   = "node(s) invalid CPU Topology"
	ReasonNotWholeCores     = "node(s) requested cpus not multiple cpus per core"
	ReasonBindConflict      = "node(s) cpu bind policy conflicts with pod's required cpu bind policy"
	ReasonInvalidRatio      = "node(s) invalid CPU amplification ratio"
	ReasonNotEnoughCPUs     = "not enough cpus available to satisfy request"
	ReasonMissingZones      = "node(s) missing NUMA resources"
	ReasonInsufficientZones = "node(s) Insufficient NUMA Node resources"
	ReasonPolicyMismatch    = "node(s) NUMA Topology policy not match"
	ReasonAmplified         = "Insufficient amplified cpu"

	ReasonInsufficientZone   = "Insufficient NUMA"
	ReasonUnsatisfied        = "Unsatisfied NUMA"
	ReasonRequiredBindPolicy = "insufficient CPUs to satisfy required cpu bind policy"
	ReasonUnaligned          = "Unaligned NUMA Hint cause"
)
