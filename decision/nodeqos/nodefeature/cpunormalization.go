package nodefeature

// CPUNormalization scales the quotas of services by the CPU model of the node.
var CPUNormalization = Spec{
	Name:       "CPUNormalization",
	Kind:       Values,
	Summary:    "scales the CPU quotas of services on nodes with faster CPUs than the reference model",
	Decision:   "decision/core/cfs",
	Docs:       "node-settings.md#cpunormalization",
	Configured: followsNode,
}
