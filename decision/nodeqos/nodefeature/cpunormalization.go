package nodefeature

// CPUNormalization scales the quotas of services by the CPU model of the node.
var CPUNormalization = Spec{
	Name:       "CPUNormalization",
	Kind:       Values,
	Summary:    "quotas of services on CPUs that are worth more than those of the reference model",
	Decision:   "decision/core/cfs",
	Docs:       "node-settings.md#cpunormalization",
	Configured: followsNode,
}
