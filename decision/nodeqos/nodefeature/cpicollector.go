package nodefeature

// CPICollector finds disturbed services by cycles per instruction.
var CPICollector = Spec{
	Name:       "CPICollector",
	Kind:       Other,
	Summary:    "detects interference with services by their cycles per instruction (CPI)",
	Decision:   "decision/nodeqos/interference",
	Docs:       "isolation.md#interference",
	Configured: alwaysReports,
}
