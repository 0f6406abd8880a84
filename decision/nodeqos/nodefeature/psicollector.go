package nodefeature

// PSICollector finds disturbed services by pressure stall information.
var PSICollector = Spec{
	Name:       "PSICollector",
	Kind:       Other,
	Summary:    "finds services that are disturbed, by the time that their processes wait",
	Decision:   "decision/nodeqos/interference",
	Docs:       "isolation.md#interference",
	Configured: alwaysReports,
}
