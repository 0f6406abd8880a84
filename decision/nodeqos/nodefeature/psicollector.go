package nodefeature

// PSICollector finds disturbed services by pressure stall information.
var PSICollector = Spec{
	Name:       "PSICollector",
	Kind:       Other,
	Summary:    "detects interference with services by their pressure stall information (PSI)",
	Decision:   "decision/nodeqos/interference",
	Docs:       "isolation.md#interference",
	Configured: alwaysReports,
}
